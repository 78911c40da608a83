/** Compares what code costs where other programs run beside it. */

/** The least processor time of a few runs, in microseconds: collecting garbage of others may fall into one. */
export function spentOn(run: () => unknown): number {
  const runs = Array.from({ length: 3 }, () => {
    const startedAt = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(startedAt);
    return user + system;
  });
  return Math.min(...runs);
}
