/** Keeps a handler that throws from ending the process. */

/** Runs `handle`; an error it throws is a bug, which is written to standard error, and `cut` ends the exchange. */
export function reportBugs(handle: () => void, cut: () => void): void {
  try {
    handle();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    cut();
  }
}
