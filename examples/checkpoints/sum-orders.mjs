// Sums up orders, and saves the sums so far: the state is a JSON value. At half of them it says so with a milestone.
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextLine = async () => (await lines.next()).value;

async function save(type, state) {
  process.stderr.write(`${process.env.SALLYPORT_CHECKPOINTS} ${type} ${JSON.stringify(state)}\n`);
  const answer = await nextLine();
  if (!answer.startsWith('saved ')) throw new Error(answer);
}

const restored = await nextLine();
const state = restored === '' ? { next: 0, sums: {} } : JSON.parse(restored);
const from = state.next;
const orders = Array.from({ length: 10 }, (_, at) => ({ customer: at % 2 === 0 ? 'Ada' : 'Bob', amount: at + 1 }));
while (state.next < orders.length) {
  const { customer, amount } = orders[state.next];
  state.sums[customer] = (state.sums[customer] ?? 0) + amount;
  state.next += 1;
  await save(state.next === 5 ? 'macro half' : 'micro', state);
  if (state.next === Number(process.argv[2])) process.exit(9);
}
console.log(JSON.stringify({ from, sums: state.sums }));
process.stdin.destroy();
