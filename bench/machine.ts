import {
  closeSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

const bytesPerMib = 1_048_576;
const ticksPerSecond = 100;
const syncs = 100;
const memoryFileSystems = new Set([0x01021994, 0x858458f6]);

/** Describes the machine, with warnings for conditions that invalidate the figures. */
export function describeMachine(directory: string): string[] {
  const lines = [
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ` +
      `${Math.round(totalmem() / bytesPerMib / 1024)} GiB, load ${(loadavg()[0] ?? 0).toFixed(2)}, ` +
      `fdatasync of 4 KiB in ${directory}: ${medianSyncMs(directory).toFixed(2)} ms`,
  ];
  if (memoryFileSystems.has(statfsSync(directory).type)) {
    lines.push(`WARNING: ${directory} is in memory, where fsync costs nothing. Set TMPDIR to a directory on a disk.`);
  }
  if ((loadavg()[0] ?? 0) > 1) lines.push('WARNING: the machine is busy with something else.');
  return lines;
}

function medianSyncMs(directory: string): number {
  const file = openSync(join(directory, 'sync'), 'w');
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: syncs }, () => {
    const startedAt = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return median(times);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Resident memory of all processes in MiB, current and peak. */
export function readMemory(pids: readonly number[]): { rssMib: number; peakMib: number } {
  const statuses = pids.map((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'));
  const read = (field: string): number => {
    const pattern = new RegExp(`${field}:\\s+(\\d+) kB`);
    return sum(statuses.map((status) => Number(pattern.exec(status)?.[1]) / 1024));
  };
  return { rssMib: read('VmRSS'), peakMib: read('VmHWM') };
}

/** Bytes that processes wrote to the disk; pages overwritten before the write count once. */
export function readDiskWrites(pids: readonly number[]): number {
  return sum(pids.map((pid) => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])));
}

/** Processor seconds of all processes. */
export function readCpuSeconds(pids: readonly number[]): number {
  return sum(pids.map((pid) => readTicks(pid).own)) / ticksPerSecond;
}

/** Processor seconds of a process and its children, ended ones included. */
export function readTreeCpuSeconds(pid: number): number {
  const { own, reaped } = readTicks(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const live = children === '' ? [] : children.split(' ').map((child) => readTicks(Number(child)));
  return (own + reaped + sum(live.map((child) => child.own + child.reaped))) / ticksPerSecond;
}

function readTicks(pid: number): { own: number; reaped: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets, which may hold spaces; the counters are 12 to 15 fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, reapedUser, reapedSystem] = fields.slice(11, 15).map(Number);
  return { own: (user ?? 0) + (system ?? 0), reaped: (reapedUser ?? 0) + (reapedSystem ?? 0) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Processor seconds of the whole machine, kernel included. */
export function readMachineCpuSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readFileSync('/proc/stat', 'utf8')
    .slice('cpu '.length)
    .trimStart()
    .split(' ', 7)
    .map(Number);
  return (user + nice + system + irq + softirq) / ticksPerSecond;
}

/** Bytes of all files in a directory and below. */
export function readBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
