import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is removed by `remove`. */
export function temporaryFolder(parent = tmpdir()): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(parent, 'spandrel-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

const LOOK_AGAIN_MIN_MS = 5;
const LOOK_AGAIN_MAX_MS = 50;
/** The pause as a share of the time waited so far: long waits poll less often. */
const LOOK_AGAIN_SHARE = 0.05;

/** Waits for a condition; throws once the deadline is past. By default that is far beyond what a busy machine takes. */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 60_000): Promise<void> {
  const startedMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > deadlineMs) throw new Error(`the condition did not hold within ${deadlineMs} ms`);
    const pauseMs = Math.min(LOOK_AGAIN_MAX_MS, Math.max(LOOK_AGAIN_MIN_MS, waitedMs * LOOK_AGAIN_SHARE));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const SHARED_MEMORY = '/dev/shm';
const SHARED_MEMORY_TYPE = 0x01021994;
const SHARED_MEMORY_FREE_MIN_BYTES = 2 * 1024 ** 3;

/** A folder in memory, which needs no disk; null without enough room. */
export function memoryFolder(): string | null {
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    return type === SHARED_MEMORY_TYPE && bavail * bsize >= SHARED_MEMORY_FREE_MIN_BYTES ? SHARED_MEMORY : null;
  } catch {
    return null;
  }
}
