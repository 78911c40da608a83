import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { OTHER_STAGE, readProfiles, type Stage, type StageTimes } from '../profile.ts';
import type { Program } from '../program.ts';
import { createWorkspace, mintKeys, startServer } from '../sides.ts';

const connections = 64;
const warmSeconds = 4;
/** The part of a profile in which the load is at its full rate: starting and ending are left out. */
const loaded = { from: 0.5, to: 0.9 };
const ticksPerSecond = 100;
const usPerSecond = 1_000_000;

/** The first that fits counts. */
const stages: readonly Stage[] = [
  { name: 'authenticate', files: /src\/(?:auth\/|domain\/secrets)/ },
  { name: 'JSON', files: /src\/json\// },
  { name: 'price', files: /src\/domain\/pricing\// },
  {
    name: 'validate and draft',
    files:
      /src\/(?:domain\/traces\/(?:collector|otlp|trace-(?:metadata|ids))|domain\/traces\/(?:metadata|traces|chat)|rpc\/)/,
  },
  { name: 'hand over', files: /thread-(?:calls|serve|reader|writer)\.ts|commit-queue\.ts/ },
  { name: 'index', files: /search|spend\/|long-reads/ },
  { name: 'commit', files: /sqlite\/(?:append-batch|lock)\.ts/ },
  { name: 'load and write rows', files: /src\/storage\// },
  { name: 'rules', files: /src\/domain\// },
  {
    name: 'HTTP',
    files:
      /src\/(?:transport|scheduling|metrics|app)\/|^node:(?:_http|net|internal\/(?:streams|timers|process|http)|events)/,
  },
];

/** What a thread may use of a trace, in microseconds of processor time: bars of the threads by their names. */
const threads = [
  { name: 'budget-main', thread: /^MainThread$/, profile: 'main', atMost: 32 },
  { name: 'budget-writer', thread: /^spandrel-writer$/, profile: 'writer', atMost: 32 },
  { name: 'budget-index', thread: /^spandrel-reader$/, profile: 'reader', atMost: 25 },
  { name: 'budget-collector', thread: /^V8Worker$/, profile: null, atMost: 5 },
] as const;

export const budget: Row = {
  name: 'budget',
  about: 'processor time of a one-span trace by thread, and by stage as a sampling profile says',
  async run(bench) {
    if (bench.calibrate) return [];
    const plain = await measure(bench, null);
    const folder = join(createWorkspace().root, 'profiles');
    mkdirSync(folder);
    await measure(bench, folder);
    const profiles = readProfiles(folder, stages, loaded);
    return threads.map(({ name, thread, profile, atMost }) => {
      const value = plain.usOf(thread);
      if (profile !== null) bench.say(describe(profile, value, profiles.get(profile) ?? new Map()));
      return judge({ name, value, unit: 'us/trace', reference: null }, { of: 'value', atMost });
    });
  },
};

/** A line with the stages of a thread, dearest first. Waits of a commit for the disk are in its stage, too. */
function describe(profile: string, us: number, times: StageTimes): string {
  const all = [...times.values()].reduce((sum, each) => sum + each, 0);
  const parts = [...times]
    .toSorted(([one, a], [other, b]) => Number(one === OTHER_STAGE) - Number(other === OTHER_STAGE) || b - a)
    .map(([name, ms]) => `${name} ${((ms / all) * 100).toFixed(0)} %`);
  return `  ${profile}, ${us.toFixed(1)} us: ${parts.join(', ')}`;
}

async function measure(bench: Bench, profiles: string | null) {
  const keys = mintKeys();
  const nodeOptions = profiles === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`, '--cpu-prof-interval=500'];
  const server = await startServer(bench, keys, createWorkspace(), nodeOptions);
  const load = {
    ports: [server.port],
    connections,
    expectedStatus: 200,
    createRequests: collectorRequests(createJsonTrace(1), keys.projectKey),
  };
  await runHttpLoad({ ...load, stop: { seconds: warmSeconds } });
  const before = readThreadSeconds(server);
  const { perSecond, seconds } = await runHttpLoad({
    ...load,
    stop: { seconds: bench.secondsPerRound * bench.rounds },
  });
  const after = readThreadSeconds(server);
  await server.stop();
  const traces = perSecond * seconds;
  bench.say(`  ${Math.round(perSecond)} traces/s${profiles === null ? '' : ' with profiles'}`);
  return {
    /** Microseconds of processor time for each trace, of all threads of the name. */
    usOf(name: RegExp): number {
      const ids = [...after.keys()].filter((id) => name.test(after.get(id)?.name ?? ''));
      const used = ids.reduce((sum, id) => sum + (after.get(id)?.seconds ?? 0) - (before.get(id)?.seconds ?? 0), 0);
      return (used * usPerSecond) / traces;
    },
  };
}

/** Names and processor seconds of all threads, by their ids. */
function readThreadSeconds({ pids }: Program): Map<string, { readonly name: string; readonly seconds: number }> {
  const tasks = pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/stat`));
  return new Map(
    tasks.map((path) => {
      const stat = readFileSync(path, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      return [path, { name, seconds: ((user ?? 0) + (system ?? 0)) / ticksPerSecond }];
    }),
  );
}
