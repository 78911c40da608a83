/** Looks at what the machine gives to the server: the folder of the data, its disk, the clock, open files. */

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, type StatsFs, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { openFilesWarning } from '../open-files.ts';
import { type Finding, findingsAbout, reasonOf } from './finding.ts';

/** What tests replace by a machine with faults. */
export type Machine = {
  readonly nowMs: number;
  readonly openFilesMax: number;
  readonly statfs: (path: string) => Pick<StatsFs, 'type' | 'bavail' | 'bsize'>;
  readonly fsync: (descriptor: number) => void;
};

const NETWORK = 'a network file system: SQLite needs real locks and a real fsync; use a local disk';
const MEMORY = 'in memory, and gone with a restart of the machine; use a disk';
/** The numbers that Linux has for kinds of file systems. */
const UNFIT_KINDS: ReadonlyMap<number, readonly ['warn' | 'fail', string]> = new Map([
  [0x6969, ['fail', NETWORK]],
  [0x517b, ['fail', NETWORK]],
  [0xff534d42, ['fail', NETWORK]],
  [0xfe534d42, ['fail', NETWORK]],
  [0x0102_1997, ['fail', NETWORK]],
  [0x6573_5546, ['warn', 'a file system of a program (FUSE), whose locks and fsync may not be real; use a local disk']],
  [0x0102_1994, ['warn', MEMORY]],
  [0x8584_58f6, ['warn', MEMORY]],
  [0x794c_7630, ['warn', 'the own layer of a container, and gone with it; mount a volume there']],
]);

/** `folder` may be missing before the first start. */
export function checkFolder(folder: string, machine: Machine): readonly Finding[] {
  const place = nearestFolder(folder);
  if (place === null) {
    return [
      findingsAbout('data folder').fail(
        `${folder} cannot be created: a part of its path is not a folder; correct the path`,
      ),
    ];
  }
  return [checkKind(place, machine), checkSpace(place, machine), checkWriting(place, machine)];
}

/** Null: a part of the path is a file. */
function nearestFolder(folder: string): string | null {
  try {
    return statSync(folder).isDirectory() ? folder : null;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing && dirname(folder) !== folder ? nearestFolder(dirname(folder)) : null;
  }
}

function checkKind(folder: string, { statfs }: Machine): Finding {
  const about = findingsAbout('file system');
  const [level, text] = UNFIT_KINDS.get(statfs(folder).type >>> 0) ?? ['ok', 'local'];
  return about[level](level === 'ok' ? text : `${folder} is ${text}`);
}

const GIB = 1024 ** 3;
const SPACE_MIN_BYTES = GIB / 4;
const SPACE_LOW_BYTES = 2 * GIB;

function checkSpace(folder: string, { statfs }: Machine): Finding {
  const about = findingsAbout('disk space');
  const { bavail, bsize } = statfs(folder);
  const bytes = bavail * bsize;
  const free = `${(bytes / GIB).toFixed(1)} GiB are free`;
  if (bytes < SPACE_MIN_BYTES) return about.fail(`only ${free} in ${folder}: free some space`);
  return bytes < SPACE_LOW_BYTES ? about.warn(`only ${free} in ${folder}: free some space soon`) : about.ok(free);
}

const SYNCS = 8;
const SYNC_SLOW_MS = 50;

/** Writes and removes a small file. */
function checkWriting(folder: string, { fsync }: Machine): Finding {
  const about = findingsAbout('fsync');
  const path = join(folder, `.spandrel-doctor-${randomBytes(6).toString('hex')}`);
  try {
    const descriptor = openSync(path, 'wx', 0o600);
    try {
      const durations = Array.from({ length: SYNCS }, () => {
        writeSync(descriptor, 'spandrel');
        const startedMs = performance.now();
        fsync(descriptor);
        return performance.now() - startedMs;
      });
      const medianMs = durations.toSorted((one, other) => one - other)[SYNCS / 2] ?? 0;
      const text = `a write reaches the disk in ${medianMs.toFixed(1)} ms`;
      return medianMs > SYNC_SLOW_MS
        ? about.warn(`${text}, and so does every answer: use a faster disk`)
        : about.ok(text);
    } finally {
      closeSync(descriptor);
      rmSync(path);
    }
  } catch (error) {
    return about.fail(`${folder} cannot be written (${reasonOf(error)}): give it to the user that runs the server`);
  }
}

export function checkOpenFiles(config: Config, { openFilesMax }: Machine): Finding {
  const about = findingsAbout('open files');
  const warning = openFilesWarning(config, openFilesMax);
  return warning === null ? about.ok(`the limit is ${openFilesMax}`) : about.warn(warning);
}

const CLOCK_OFF_MS = 5_000;
/** No clock is right before this software was written. */
const WRITTEN_AT_MS = Date.UTC(2026, 10, 1);

/** `clockMs` is that of the database, `trustedAtMs` the newest instant it holds; null: not known. */
export function checkClock(
  { nowMs }: Pick<Machine, 'nowMs'>,
  { clockMs, trustedAtMs }: { readonly clockMs: number | null; readonly trustedAtMs: number | null },
): Finding {
  const about = findingsAbout('clock');
  const advice = 'synchronise the clock (NTP)';
  const now = new Date(nowMs).toISOString();
  if (nowMs < WRITTEN_AT_MS) return about.fail(`it is not ${now}: ${advice}`);
  if (trustedAtMs !== null && nowMs < trustedAtMs - CLOCK_OFF_MS) {
    return about.fail(`${now} is before what is stored, ${new Date(trustedAtMs).toISOString()}: ${advice}`);
  }
  const offMs = clockMs === null ? 0 : Math.abs(nowMs - clockMs);
  if (offMs > CLOCK_OFF_MS) {
    return about.warn(`it differs from that of the database by ${Math.round(offMs / 1000)} s: ${advice}`);
  }
  return about.ok(now);
}
