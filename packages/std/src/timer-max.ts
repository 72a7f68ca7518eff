/** The longest delay that a timer of Node can count, ms: some 25 days. With a longer one it fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;
