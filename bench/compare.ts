import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { LoadResult, Stop } from './load/meter.ts';
import { median, readCpuSeconds, readMachineCpuSeconds, readMemory, readTreeCpuSeconds } from './machine.ts';
import type { Program } from './program.ts';

export type Contest = {
  startReference(): Promise<Program>;
  startProduct(): Promise<Program>;
  /** Runs the load from this process, the same on both sides. */
  load(port: number, stop: Stop): Promise<LoadResult>;
  /** Prepares each load; not measured. */
  prepare?(port: number): Promise<void>;
  /** Checks both sides after the last round, before they stop. */
  conclude?(): Promise<void>;
  /** The unit of a load, if not requests. */
  readonly unit?: string;
  /** Throws when a successful answer of the server did not do its work. */
  checkProduct?(body: Buffer): void;
  /** A program that both sides use, or null: its work and its children's counts as the side's. */
  readonly sharedPid?: number | null;
};

export type Medians = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };
export type Compared = { readonly reference: Medians; readonly product: Medians };

const warmUpSeconds = 2;
// Lets a side finish its work after the last answer before the other side is measured.
const settleMs = 500;
const generatorBusyMax = 0.95;
const otherSideCoresMax = 0.05;
// Disk writes of the kernel use some of this on an idle machine too.
const otherProcessesCoresMax = 0.25;
// Load of other virtual machines shows in no counter, only in differing rounds.
const spreadMax = 0.25;

/** Measures both programs in turn, reference first, and returns the medians of the rounds. */
export async function compare(bench: Bench, contest: Contest): Promise<Compared> {
  const started: Program[] = [];
  const start = async (program: Promise<Program>): Promise<Program> => {
    started.push(await program);
    return program;
  };
  try {
    const reference = await start(contest.startReference());
    const product = await start(bench.calibrate ? contest.startReference() : contest.startProduct());
    const sides = [
      { title: 'reference', program: reference, other: product, results: [] as LoadResult[] },
      { title: 'product', program: product, other: reference, results: [] as LoadResult[] },
    ] as const;
    for (const { program } of sides) {
      await contest.prepare?.(program.port);
      const { firstBody } = await contest.load(program.port, { seconds: warmUpSeconds });
      if (program === product && !bench.calibrate) contest.checkProduct?.(firstBody);
    }
    for (let round = 1; round <= bench.rounds; round += 1) {
      for (const side of sides) side.results.push(await measureRound(bench, contest, { ...side, round }));
    }
    await contest.conclude?.();
    for (const side of sides) sayOutcome(bench, { ...side, unit: contest.unit ?? 'requests' });
    for (const stopped of await Promise.allSettled(started.map((program) => program.stop()))) {
      // The figures are complete, so a failed stop only gives a warning.
      if (stopped.status === 'rejected') bench.say(`  WARNING: ${stopped.reason}`);
    }
    return { reference: summarize(sides[0].results), product: summarize(sides[1].results) };
  } catch (error) {
    const logs = started.map((program) => `${program.name} said last:\n${program.lastWords()}`);
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${logs.join('\n')}`, { cause: error });
  }
}

type Round = { readonly title: string; readonly program: Program; readonly other: Program; readonly round: number };

async function measureRound(bench: Bench, contest: Contest, side: Round): Promise<LoadResult> {
  await contest.prepare?.(side.program.port);
  await delay(settleMs);
  const before = readCores(contest, side);
  const result = await contest.load(side.program.port, { seconds: bench.secondsPerRound });
  const after = readCores(contest, side);
  const own = (after.own - before.own) / result.seconds;
  const other = (after.other - before.other) / result.seconds;
  const otherProcesses = (after.otherProcesses - before.otherProcesses) / result.seconds;
  const title = `round ${side.round} ${side.title}`;
  bench.detail(
    `  ${title}: ${result.requests} in ${result.seconds.toFixed(2)} s = ${Math.round(result.perSecond)}/s, ` +
      `p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms, cores: own ${own.toFixed(2)}, ` +
      `other side ${other.toFixed(2)}, other processes ${otherProcesses.toFixed(2)}, generator ${result.generatorBusy.toFixed(2)} busy`,
  );
  if (result.generatorBusy > generatorBusyMax) bench.say(`  WARNING: ${title} was held back by the generator.`);
  if (other > otherSideCoresMax) bench.say(`  WARNING: ${title} shared the machine with the other side's work.`);
  if (otherProcesses > otherProcessesCoresMax)
    bench.say(`  WARNING: ${title} lost ${otherProcesses.toFixed(1)} cores to other processes.`);
  return result;
}

type Outcome = { title: string; program: Program; results: readonly LoadResult[]; unit: string };

function sayOutcome(bench: Bench, side: Outcome): void {
  const { perSecond, p50Ms, p99Ms } = summarize(side.results);
  const { rssMib, peakMib } = readMemory(side.program.pids);
  bench.say(
    `  ${side.title}: ${Math.round(perSecond)} ${side.unit}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ` +
      `RSS after it ${rssMib.toFixed(0)} MiB (peak ${peakMib.toFixed(0)})`,
  );
  const rates = side.results.map((result) => result.perSecond);
  const spread = (Math.max(...rates) - Math.min(...rates)) / perSecond;
  if (spread > spreadMax) {
    bench.say(
      `  WARNING: rounds of ${side.title} differ by ${Math.round(spread * 100)} %; repeat with more, shorter rounds.`,
    );
  }
}

/** Processor seconds so far of the measured side, the other side, and foreign processes. */
function readCores(
  { sharedPid }: Contest,
  { program, other }: Round,
): { own: number; other: number; otherProcesses: number } {
  const shared = sharedPid ? readTreeCpuSeconds(sharedPid) : 0;
  const cores = { own: readCpuSeconds(program.pids) + shared, other: readCpuSeconds(other.pids) };
  const generator = readCpuSeconds([process.pid]);
  return { ...cores, otherProcesses: readMachineCpuSeconds() - cores.own - cores.other - generator };
}

function summarize(results: readonly LoadResult[]): Medians {
  return {
    perSecond: median(results.map((result) => result.perSecond)),
    p50Ms: median(results.map((result) => result.p50Ms)),
    p99Ms: median(results.map((result) => result.p99Ms)),
  };
}
