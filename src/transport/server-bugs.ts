/** Keeps a handler that throws where it never should from taking the process down. */

/** Runs `handle`; a bug in it is written to standard error, and `cut` ends the exchange it was about. */
export function reportBugs(handle: () => void, cut: () => void): void {
  try {
    handle();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    cut();
  }
}
