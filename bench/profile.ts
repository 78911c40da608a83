import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A part of the work of a trace, and the source files that do it, by what their paths end with or hold. */
export type Stage = { readonly name: string; readonly files: RegExp };

/** The milliseconds of a thread by stage. */
export type StageTimes = ReadonlyMap<string, number>;

type Node = {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
};
type Profile = {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
};

export const COLLECTOR_STAGE = 'garbage collector';
export const OTHER_STAGE = 'other';
const OWN_FILES = /\/(?:src|gen)\//;

/** Reads the profiles that `--cpu-prof` left in a folder, one for each thread: main, writer or reader. */
export function readProfiles(folder: string, stages: readonly Stage[], share: Share): Map<string, StageTimes> {
  const threads = new Map<string, StageTimes>();
  for (const name of readdirSync(folder)) {
    const profile: Profile = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    threads.set(threadOf(profile), timesOf(profile, stages, share));
  }
  return threads;
}

/** The part of a profile that counts, as shares of its length. */
export type Share = { readonly from: number; readonly to: number };

function threadOf({ nodes }: Profile): string {
  const runs = (file: string) => nodes.some(({ callFrame }) => callFrame.url.endsWith(file));
  if (runs('/src/main.ts')) return 'main';
  return runs('/sqlite/core.ts') ? 'writer' : 'reader';
}

function timesOf({ nodes, samples, timeDeltas }: Profile, stages: readonly Stage[], { from, to }: Share): StageTimes {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const stageOf = (id: number): string | null => {
    const name = byId.get(id)?.callFrame.functionName;
    if (name === '(idle)') return null;
    if (name === '(garbage collector)') return COLLECTOR_STAGE;
    let url = '';
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      url = byId.get(at)?.callFrame.url ?? '';
      if (OWN_FILES.test(url)) break;
    }
    // Code of Node without a caller of ours reads and writes sockets.
    return stages.find(({ files }) => files.test(url))?.name ?? OTHER_STAGE;
  };
  const known = new Map(nodes.map(({ id }) => [id, stageOf(id)]));
  const lengthUs = timeDeltas.reduce((sum, each) => sum + each, 0);
  const times = new Map<string, number>();
  let atUs = 0;
  for (const [index, id] of samples.entries()) {
    const deltaUs = timeDeltas[index] ?? 0;
    atUs += deltaUs;
    const stage = known.get(id) ?? null;
    if (stage === null || atUs < lengthUs * from || atUs > lengthUs * to) continue;
    times.set(stage, (times.get(stage) ?? 0) + deltaUs / 1_000);
  }
  return times;
}
