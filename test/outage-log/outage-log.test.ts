import { expect, it } from 'vitest';
import { unavailableFault } from '../../src/domain/fault.ts';
import { createOutageLog } from '../../src/outage-log.ts';
import { createManualPause } from '../support/manual-pause.ts';
import { until } from '../support/temp.ts';

const FAILED = { err: unavailableFault('The store cannot serve right now.', 1, new Error('connection lost')) };

function createWorld() {
  const lines: string[] = [];
  const world = { lines, isReady: true, asked: 0, nowMs: 5_000 };
  const { pause, waiting, pass } = createManualPause();
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const { log, stop } = createOutageLog({
    log: {
      error: write('error'),
      warn: write('warn'),
      info: write('info'),
      debug: write('debug'),
      isLevelEnabled: () => true,
    },
    ready: async () => {
      world.asked += 1;
      if (!world.isReady) throw new Error('away');
    },
    monotonicMs: () => world.nowMs,
    wait: pause,
  });
  const told = () => lines.filter((line) => !line.startsWith('debug'));
  return { world, log, stop, told, waiting, pass };
}

it('a store that goes away and comes back is two lines, however much it fails meanwhile', async () => {
  const { world, log, told, waiting, pass } = createWorld();
  world.isReady = false;
  for (let request = 0; request < 50; request += 1) log.warn({ rpc: 'a', ...FAILED }, 'request refused');
  await until(() => waiting().length === 1);
  log.warn(FAILED, 'settlement failed');
  await pass();
  await until(() => waiting().length === 1);
  expect(told()).toEqual(['warn the store is away {"cause":"connection lost"}']);
  expect(world.lines.filter((line) => line.startsWith('debug'))).toHaveLength(50);
  world.isReady = true;
  world.nowMs += 3_000;
  await pass();
  await until(() => told().length === 2);
  expect(told()[1]).toBe('info the store is back {"awayMs":3000}');
  expect(waiting()).toEqual([]);
  world.isReady = false;
  log.warn(FAILED, 'request refused');
  await until(() => told().length === 3);
});

it('a failure of a store that works is told for itself, without a stack', async () => {
  const { log, told } = createWorld();
  log.warn({ rpc: 'a', ...FAILED }, 'request refused');
  log.warn({ rpc: 'b', err: unavailableFault('Too much is waiting.', 1) }, 'request refused');
  await until(() => told().length === 1);
  expect(told()).toEqual(['warn request refused {"rpc":"a","cause":"connection lost"}']);
  log.warn({ rpc: 'c', err: unavailableFault('Too much is waiting.', 1) }, 'request refused');
  await until(() => told().length === 2);
  expect(told()[1]).toBe('warn request refused {"rpc":"c","cause":"Too much is waiting."}');
});

it('lines of refused requests are told only where the store works', async () => {
  const { world, log, told, waiting } = createWorld();
  const refused = { code: 'unavailable', status: 503 };
  log.warn(FAILED, 'a');
  log.info(refused, 'b');
  log.info({ code: 'invalid_credentials' }, 'c');
  await until(() => told().length === 3);
  expect(told().map((line) => line.slice(0, 6))).toEqual(['info c', 'warn a', 'info b']);
  world.isReady = false;
  log.warn(FAILED, 'd');
  log.info(refused, 'e');
  await until(() => waiting().length === 1);
  log.info(refused, 'f');
  expect(told()).toHaveLength(4);
});

it('the count of what was refused while the store was away is not told when it comes late', async () => {
  const { world, log, told, waiting, pass } = createWorld();
  const counted = { code: 'unavailable', count: 30 };
  world.isReady = false;
  log.warn(FAILED, 'a');
  await until(() => waiting().length === 1);
  world.isReady = true;
  await pass();
  await until(() => told().length === 2);
  world.nowMs += 1_000;
  log.info(counted, 'b');
  expect(told()).toHaveLength(2);
  world.nowMs += 1_500;
  log.info(counted, 'c');
  expect(told()[2]).toBe('info c {"code":"unavailable","count":30}');
});

it('everything else is told at once', () => {
  const { world, log, told } = createWorld();
  world.isReady = false;
  log.warn({ err: new Error('x') }, 'a');
  log.warn({}, 'b');
  log.error(FAILED, 'c');
  log.info({}, 'd');
  expect(told().map((line) => line.slice(0, 8).trim())).toEqual(['warn a {', 'warn b {', 'error c', 'info d {']);
  expect(world.asked).toBe(0);
});

it('says nothing of a store that is still away when it is stopped', async () => {
  const { world, log, stop, told, waiting } = createWorld();
  world.isReady = false;
  log.warn(FAILED, 'request refused');
  await until(() => waiting().length === 1);
  stop();
  await until(() => waiting().length === 0);
  expect(told()).toHaveLength(1);
});
