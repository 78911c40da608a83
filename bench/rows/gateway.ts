import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Bench, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { type Figure, judge } from '../figure.ts';
import { chatRequests, type Gateway, openGateway } from '../load/gateway.ts';
import { runHttpLoad } from '../load/http.ts';
import { readMemory } from '../machine.ts';
import { createDirectory, type Program } from '../program.ts';
import { mintKeys, startLimitOn, startServer } from '../sides.ts';

const connections = 10;
const idleMs = 5_000;
const rssAfterRequests = 100_000;
const rssRoomMib = 120;
const installMs = 120_000;
/** Has the shape of a virtual key; who does not check it passes it on. */
const anySecret = 'vk-lw-0123456789abcdefghjkmnpqrs';
const peerFolder = join(import.meta.dirname, '..', 'peer');

export const gateway: Row = {
  name: 'gateway',
  about: `chat through the gateway over ${connections} connections, with and without budget and texts, against @portkey-ai/gateway`,
  secondsMax: 900,
  async run(bench) {
    const peer = await installPeer(bench);
    const full = await measure(bench, { peer, isBare: false });
    const bare = await measure(bench, { peer, isBare: true });
    return [...full, ...bare];
  },
};

/** What stands before the same provider. Without npm, `folder` is null: a bare proxy of Node. */
type Peer = { readonly folder: string | null };

type Side = { readonly peer: Peer; readonly isBare: boolean };

async function measure(bench: Bench, { peer, isBare }: Side): Promise<readonly Figure[]> {
  const provider = await startProvider();
  const keys = mintKeys();
  let opened: (Gateway & { readonly program: Program; readonly idleMib: number }) | null = null;
  let [requests, rssMib] = [0, 0];
  const load = async (port: number, stop: { readonly seconds: number } | { readonly requests: number }) => {
    const isProduct = port === opened?.program.port;
    const secret = isProduct ? (opened?.secret ?? anySecret) : anySecret;
    const createRequests = chatRequests({ secret, providerPort: provider.port, isStream: false });
    const result = await runHttpLoad({ ...answersOf(port), stop, createRequests, streamed: { timed: 'last bytes' } });
    if (isProduct) requests += result.requests;
    return result;
  };
  const alone = await load(provider.port, { seconds: 1 });
  bench.say(`  the provider alone: ${Math.round(alone.perSecond)}/s, p50 ${alone.p50Ms.toFixed(2)} ms`);
  const { product, reference } = await compare(bench, {
    startReference: () => startPeer(peer, provider.port),
    async startProduct() {
      const program = await startServer(bench, keys);
      const made = await openGateway({ port: program.port, keys, providerPort: provider.port, isBare });
      await delay(idleMs);
      opened = { ...made, program, idleMib: readMemory(program.pids).rssMib };
      return program;
    },
    load,
    sharedPid: provider.pids[0] ?? null,
    checkProduct: checkAnswer,
    async conclude() {
      if (opened === null || isBare) return;
      const missing = rssAfterRequests - requests;
      if (missing > 0) await load(opened.program.port, { requests: missing });
      rssMib = readMemory(opened.program.pids).rssMib;
      const spentUsd = await opened.readSpentUsd();
      bench.say(`  the budget has spent ${spentUsd} USD after ${requests} requests`);
      if (!(Number(spentUsd) > 0)) throw new Error('the budget of the key counted nothing');
    },
  });
  const name = `${isBare ? 'gateway-metadata' : 'gateway'}${peer.folder === null ? '-bare-node' : ''}`;
  const rate = { name, value: product.perSecond, unit: 'requests/s', reference: reference.perSecond };
  // A proxy without anything else has no bar: nothing that keeps accounts reaches it.
  if (peer.folder === null) return [judge(rate, { of: 'ratio', atLeast: 0 })];
  if (isBare) return [judge(rate, { of: 'ratio', atLeast: 2 })];
  const idleMib = (opened as { readonly idleMib: number } | null)?.idleMib ?? Number.NaN;
  const times = (['p50Ms', 'p99Ms'] as const).map((time) => ({
    ...{ name: `gateway-${time.replace('Ms', '')}`, value: product[time], unit: 'ms', reference: reference[time] },
  }));
  const [p50, p99] = times.map((measured, index) => judge(measured, { of: 'ratio', atMost: index === 0 ? 0.9 : 1 }));
  const figures = [judge(rate, { of: 'ratio', atLeast: 1.2 }), p50, p99].filter((figure) => figure !== undefined);
  if (bench.calibrate) return figures;
  const grown = { name: 'gateway-rss', value: rssMib - idleMib, unit: 'MiB above idle', reference: null };
  return [...figures, judge(grown, { of: 'value', atMost: rssRoomMib })];
}

export const gatewayStream: Row = {
  name: 'gateway-stream',
  about: `the first bytes of streamed chat over ${connections} connections, against the provider alone`,
  async run(bench) {
    const upstream = await startProvider();
    const keys = mintKeys();
    let secret = anySecret;
    const { product, reference } = await compare(bench, {
      startReference: startProvider,
      async startProduct() {
        const program = await startServer(bench, keys);
        const opening = { port: program.port, keys, providerPort: upstream.port, isBare: false };
        ({ secret } = await openGateway(opening));
        return program;
      },
      load: (port, stop) =>
        runHttpLoad({
          ...{ ...answersOf(port), stop, streamed: { timed: 'first bytes' } as const },
          createRequests: chatRequests({ secret, providerPort: upstream.port, isStream: true }),
        }),
      sharedPid: upstream.pids[0] ?? null,
      checkProduct: checkStream,
    });
    const value = product.p50Ms - reference.p50Ms;
    return [
      judge(
        { name: 'gateway-stream', value, unit: 'ms after the provider', reference: null },
        { of: 'value', atMost: 2 },
      ),
    ];
  },
};

function answersOf(port: number) {
  return { ports: [port], connections, expectedStatus: 200 };
}

function startProvider(): Promise<Program> {
  return startLimitOn('provider', []);
}

function startPeer({ folder }: Peer, providerPort: number): Promise<Program> {
  return folder === null ? startLimitOn('proxy', [String(providerPort)]) : startLimitOn('portkey', [folder]);
}

/** Installs the peer as its lock file says, for the run alone. */
async function installPeer(bench: Bench): Promise<Peer> {
  const folder = createDirectory('run');
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(peerFolder, name), join(folder, name));
  try {
    const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', args, { cwd: folder, timeout: installMs });
    return { folder };
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n').slice(1);
    bench.say(`  npm cannot install the peer, so a bare proxy of Node is the reference: ${reason}`);
    return { folder: null };
  }
}

function checkAnswer(body: Buffer): void {
  if (!body.includes('A gateway stands between callers')) throw new Error(`no answer of the provider: ${body}`);
}

function checkStream(body: Buffer): void {
  const isWhole = body.includes('" token"') && body.includes('"total_tokens"') && body.includes('data: [DONE]');
  if (!isWhole) throw new Error(`no whole stream of the provider: ${body}`);
}
