/** Rejects when the answer takes longer. Does not keep the process alive. */
export async function waitAtMost<T>(answer: Promise<T>, delayMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store takes too long')), delayMs);
    timer.unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
