/** The result of a promise, or an error when it takes too long. */
export async function within<Result>(timeoutMs: number, work: Promise<Result>, problem: string): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${problem} within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
