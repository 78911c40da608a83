import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is removed by `remove`. */
export function temporaryFolder(parent = tmpdir()): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(parent, 'spandrel-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Waits for a condition; throws once the deadline is past. */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`the condition did not hold within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const SHARED_MEMORY = '/dev/shm';
const SHARED_MEMORY_TYPE = 0x01021994;
const SHARED_MEMORY_FREE_MIN_BYTES = 2 * 1024 ** 3;

/** A folder whose files live in memory, so that nobody waits for a disk; null where there is no room for that. */
export function memoryFolder(): string | null {
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    return type === SHARED_MEMORY_TYPE && bavail * bsize >= SHARED_MEMORY_FREE_MIN_BYTES ? SHARED_MEMORY : null;
  } catch {
    return null;
  }
}
