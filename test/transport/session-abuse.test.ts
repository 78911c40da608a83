import { once } from 'node:events';
import { get } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPenalties } from '../../src/transport/reconnect-penalties.ts';
import { resetRequest } from '../support/attack-frames.ts';
import { type Port, type PortOptions, startPort, TLS, until } from '../support/port.ts';

/** Many times more blocks than tolerated. */
const BLOCKS_MAX = 200;
const PAUSE_MS = 20;
/** Fewer than a session may reset at once. */
const RESETS_PER_CONNECTION = 200;
/** Together they reset many times more streams than an address may. */
const RECONNECTS_MAX = 100;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const FRAME_MAX_BYTES = 16_384;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const GOAWAY = 7;
const CONTINUATION = 9;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;

async function start(options: PortOptions = {}): Promise<Port> {
  const port = await startPort(options);
  onTestFinished(() => port.drain(0));
  return port;
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Splits a header block into frames. */
function headers(stream: number, block: Buffer, endStream = true): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += FRAME_MAX_BYTES) {
    const isLast = at + FRAME_MAX_BYTES >= block.length;
    const flags = (at === 0 && endStream ? END_STREAM : 0) | (isLast ? END_HEADERS : 0);
    const piece = block.subarray(at, at + FRAME_MAX_BYTES);
    frames.push(frame(at === 0 ? HEADERS : CONTINUATION, flags, stream, piece));
  }
  return Buffer.concat(frames);
}

/** RFC 7541, 5.1, with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function literal(name: string, value: string, first = 0): Buffer {
  const parts = [name, value].flatMap((text) => [integer(text.length), Buffer.from(text)]);
  return Buffer.concat([Buffer.from([first]), ...parts]);
}

const INDEXED = 0x40;
/** The newest entry of the dynamic table, in one byte. */
const NEWEST_ENTRY = 0x80 | 62;
// GET, http, /here, x
const REQUEST = Buffer.concat([
  Buffer.from([0x82, 0x86]),
  Buffer.concat([Buffer.from([0x04]), integer(5), Buffer.from('/here')]),
  Buffer.concat([Buffer.from([0x01]), integer(1), Buffer.from('x')]),
]);
const LARGE = Array.from({ length: 10 }, (_, index) => literal(`x-${index}`, 'y'.repeat(4_000)));

/** Repeated header blocks, on the stream of the given id. */
const BOMBS: { readonly [name: string]: (stream: number) => Buffer } = {
  'references that expand': (stream) =>
    headers(
      stream,
      Buffer.concat([REQUEST, literal('x-a', 'a'.repeat(3_900), INDEXED), Buffer.alloc(50_000, NEWEST_ENTRY)]),
    ),
  'a few references that expand': (stream) =>
    headers(
      stream,
      Buffer.concat([REQUEST, literal('x-a', 'a'.repeat(3_900), INDEXED), Buffer.alloc(10, NEWEST_ENTRY)]),
    ),
  'many headers': (stream) =>
    headers(stream, Buffer.concat([REQUEST, ...Array.from({ length: 1_000 }, () => literal('x', 'y'))])),
  'large headers': (stream) => headers(stream, Buffer.concat([REQUEST, ...LARGE])),
  'large trailers': (stream) => Buffer.concat([headers(stream, REQUEST, false), headers(stream, Buffer.concat(LARGE))]),
};

type Attacker = {
  readonly socket: Socket;
  readonly sent: () => number;
  /** The codes of the GOAWAY frames. */
  readonly farewells: () => readonly number[];
};

/** Sends until it is cut. */
function attack(port: Port, bomb: (stream: number) => Buffer, confirms = true): Attacker {
  const socket: Socket = port.address.startsWith('https:')
    ? connectTls({ port: port.port, host: 'localhost', ca: TLS.cert, ALPNProtocols: ['h2'] })
    : connectTcp(port.port, '127.0.0.1');
  let sent = 0;
  let received = Buffer.alloc(0);
  const farewells: number[] = [];
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (let length = lengthOf(received); received.length >= length; length = lengthOf(received)) {
      if (received[3] === GOAWAY) farewells.push(received.readUInt32BE(13));
      received = received.subarray(length);
    }
  });
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...(confirms ? [frame(SETTINGS, ACK, 0)] : [])]));
  const sending = setInterval(() => {
    if (socket.destroyed || sent >= BLOCKS_MAX) return;
    socket.write(bomb(1 + 2 * sent));
    sent += 1;
  }, PAUSE_MS);
  socket.on('close', () => clearInterval(sending));
  onTestFinished(() => {
    clearInterval(sending);
    socket.destroy();
  });
  return { socket, sent: () => sent, farewells: () => farewells };
}

function lengthOf(received: Buffer): number {
  return received.length < 9 ? Number.POSITIVE_INFINITY : 9 + received.readUIntBE(0, 3);
}

/** The status of a request over a new connection; null if refused. */
function ask({ port }: Port, localAddress = '127.0.0.1'): Promise<number | null> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/here', localAddress, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    }).on('error', () => resolve(null));
  });
}

describe.each([
  ['in the clear', {}],
  ['with TLS', { tls: true }],
])('a session %s', (_, options) => {
  it.each(Object.keys(BOMBS))('that sends %s again and again is cut, and counted', async (name) => {
    const port = await start(options);
    const bomb = BOMBS[name];
    if (!bomb) throw new Error(name);
    const attacker = attack(port, bomb);
    await until(() => attacker.socket.destroyed, 'the session is cut');
    // Includes blocks sent before the server noticed.
    expect(attacker.sent()).toBeLessThan(BLOCKS_MAX);
    expect(attacker.farewells()).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(port.counted()).toEqual({ headers: 1, resets: 0, refused: 0 });
  });
});

describe('a session', () => {
  it('whose client never acknowledges the settings is cut as soon', async () => {
    const port = await start();
    const attacker = attack(port, BOMBS['large headers'] ?? frame.bind(null, 0, 0), false);
    await until(() => attacker.socket.destroyed, 'the session is cut');
    expect(attacker.sent()).toBeLessThan(BLOCKS_MAX);
    expect(attacker.farewells()).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(port.counted().headers).toBe(1);
  });

  it('that sends a header block without an end is cut, and counted', async () => {
    const port = await start();
    const attacker = attack(port, (stream) =>
      stream === 1 ? frame(HEADERS, 0, 1, REQUEST) : frame(CONTINUATION, 0, 1, Buffer.from([0x82])),
    );
    await until(() => attacker.socket.destroyed, 'the session is cut');
    expect(port.counted().headers).toBe(1);
  });

  it('that sends too large headers a few times continues', async () => {
    const port = await start();
    const session = connectHttp2(port.address, { maxSendHeaderBlockLength: 1_000_000 });
    onTestFinished(() => session.destroy());
    for (let round = 0; round < 5; round += 1) {
      const large = session.request({ ':path': '/here', 'x-large': 'a'.repeat(40_000) });
      await expect(once(large, 'response')).rejects.toThrow();
      const small = session.request({ ':path': '/here' });
      const [answered] = await once(small, 'response');
      expect(answered[':status']).toBe(200);
    }
    expect(session.destroyed).toBe(false);
    expect(port.counted()).toEqual({ headers: 0, resets: 0, refused: 0 });
  });

  it('whose headers arrive slowly in parts is not cut', async () => {
    const port = await start();
    const socket = connectTcp(port.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.resume().write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0)]));
    const piece = 12;
    for (let round = 0; round < 15; round += 1) {
      const bytes = headers(1 + 2 * round, REQUEST);
      socket.write(bytes.subarray(0, piece));
      // Longer than the interval of session checks.
      await new Promise((resolve) => setTimeout(resolve, 120));
      socket.write(bytes.subarray(piece));
    }
    expect(await ask(port)).toBe(200);
    expect(socket.destroyed).toBe(false);
    expect(port.counted().headers).toBe(0);
  });

  it('that skips the ids of streams, and ends calls early, is none to cut', async () => {
    const port = await start();
    const socket = connectTcp(port.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.resume().write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0)]));
    for (let round = 0; round < 15; round += 1) {
      const stream = 3 + 40 * round;
      const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
      socket.write(Buffer.concat([headers(stream, REQUEST, false), frame(RST_STREAM, 0, stream, cancel)]));
      // Longer than the interval of session checks.
      await new Promise((resolve) => setTimeout(resolve, 110));
    }
    expect(socket.destroyed).toBe(false);
    expect(port.counted().headers).toBe(0);
  });
});

/** Opens and resets streams until the session is cut. */
async function resetRapidly({ address }: Port): Promise<void> {
  const session = connectHttp2(address);
  session.on('error', () => {});
  const opening = setInterval(() => {
    for (let count = 0; count < 200 && !session.closed && !session.destroyed; count += 1) {
      const stream = session.request({ ':path': '/here' }, { endStream: true });
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
    }
  }, 1);
  await until(() => session.destroyed, 'the client is cut').finally(() => clearInterval(opening));
}

describe('after a session was cut', () => {
  it.each([
    ['rapid resets', resetRapidly],
    [
      'header bombs',
      async (port: Port) => {
        const attacker = attack(port, BOMBS['large headers'] ?? frame.bind(null, 0, 0));
        await until(() => attacker.socket.destroyed, 'the session is cut');
      },
    ],
  ])('for %s its address cannot connect for a while, and others can', async (_, misbehave) => {
    const port = await start({ limits: { reconnectPenaltyMs: 1_500 } });
    const open = connectHttp2(port.address);
    onTestFinished(() => open.destroy());
    await once(open, 'connect');
    await misbehave(port);
    await until(() => port.counted().headers + port.counted().resets === 1, 'it is counted');
    expect(await ask(port)).toBeNull();
    expect(await ask(port, '127.0.0.2')).toBe(200);
    // Existing sessions continue.
    const [answered] = await once(open.request({ ':path': '/here' }), 'response');
    expect(answered[':status']).toBe(200);
    expect(port.counted()).toMatchObject({ refused: 1 });
    let status: number | null = null;
    await until(() => {
      void ask(port).then((answer) => {
        status ??= answer;
      });
      return status !== null;
    }, 'the address may connect again');
    expect(status).toBe(200);
  });

  it('rapid resets are counted as such', async () => {
    const port = await start();
    await resetRapidly(port);
    await until(() => port.counted().resets === 1, 'it is counted');
    expect(await ask(port)).toBe(200);
  });

  it.each<readonly [string, number]>([
    ['that cancels', constants.NGHTTP2_CANCEL],
    ['without an error', constants.NGHTTP2_NO_ERROR],
    ['of an internal error', constants.NGHTTP2_INTERNAL_ERROR],
    ['that is unknown', 99],
  ])('resets of one address with a code %s count together, however often it connects again', async (_, code) => {
    const port = await start({ limits: { reconnectPenaltyMs: 60_000 } });
    const resets = Array.from({ length: RESETS_PER_CONNECTION }, (_, index) =>
      resetRequest(1 + 2 * index, { ':path': '/here' }, code),
    );
    const bytes = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...resets]);
    let connections = 0;
    const resetAndReconnect = () => {
      if (connections === RECONNECTS_MAX || port.counted().refused > 0) return;
      connections += 1;
      const socket = connectTcp(port.port, '127.0.0.1').on('error', () => {});
      socket.once('data', () => socket.destroy());
      socket.on('close', resetAndReconnect);
      socket.write(bytes);
    };
    resetAndReconnect();
    await until(() => port.counted().refused > 0, 'the address is refused');
    expect(connections).toBeLessThan(RECONNECTS_MAX);
    expect(port.counted()).toMatchObject({ headers: 0, resets: 1 });
    expect(await ask(port, '127.0.0.2')).toBe(200);
  });

  it('an address that speaks TLS is refused before it gets to', async () => {
    const port = await start({ tls: true, limits: { reconnectPenaltyMs: 60_000 } });
    attack(port, BOMBS['large headers'] ?? frame.bind(null, 0, 0));
    await until(() => port.counted().headers === 1, 'the session is cut');
    const again = connectTls({ port: port.port, host: 'localhost', ca: TLS.cert });
    await expect(once(again, 'secureConnect')).rejects.toThrow();
    expect(port.counted().refused).toBe(1);
  });
});

it('of many sessions of one address that send header bombs at once, many are never begun', async () => {
  const port = await start({ limits: { reconnectPenaltyMs: 60_000 } });
  const bomb = BOMBS['references that expand'] ?? frame.bind(null, 0, 0);
  const bombs = Array.from({ length: 100 }, (_, index) => bomb(1 + 2 * index));
  const sent = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...bombs]);
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connectTcp(port.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    return socket.resume();
  });
  // Accepted before any offence: a later connection is served after them.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  expect(await ask(port, '127.0.0.2')).toBe(200);
  for (const socket of sockets) socket.write(sent);
  await until(() => sockets.every(({ destroyed }) => destroyed), 'all of them are cut');
  // If all sessions began at once, all would be cut and none refused.
  expect(port.counted().headers).toBeLessThan(45);
  expect(port.counted().refused).toBeGreaterThan(15);
});

describe('the penalty of an address', () => {
  function createFixture() {
    let nowMs = 0;
    const penalties = createPenalties({ firstMs: 1_000, monotonicMs: () => nowMs });
    /** Commits an offence; returns how long it blocks. */
    const offend = (address: string): number => {
      const startMs = nowMs;
      penalties.penalize(address);
      while (penalties.isBlocked(address)) nowMs += 500;
      return nowMs - startMs;
    };
    const wait = (ms: number) => {
      nowMs += ms;
    };
    return { penalties, offend, wait };
  }

  it('grows every time, up to a minute, and is removed after a quiet period', () => {
    const { offend, wait } = createFixture();
    const lengths = Array.from({ length: 8 }, () => offend('a'));
    expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(offend('b')).toBe(1_000);
    wait(600_000);
    expect(offend('a')).toBe(1_000);
  });

  it('counts sessions that were open at the same time once', () => {
    const { penalties, offend } = createFixture();
    penalties.penalize('a');
    expect(offend('a')).toBe(1_000);
    expect(offend('a')).toBe(2_000);
  });

  it('is remembered for a bounded number of addresses', () => {
    const { penalties } = createFixture();
    for (let index = 0; index <= 10_000; index += 1) penalties.penalize(`address ${index}`);
    expect(penalties.isBlocked('address 0')).toBe(false);
    expect(penalties.isBlocked('address 1')).toBe(true);
    expect(penalties.isBlocked('address 10000')).toBe(true);
  });

  it('is none at all where it is switched off', () => {
    const penalties = createPenalties({ firstMs: 0, monotonicMs: () => 0 });
    penalties.penalize('a');
    expect(penalties.isBlocked('a')).toBe(false);
  });
});
