import { expect, it } from 'vitest';
import { createOutageLog } from '../../src/app/outage-log.ts';
import { unavailableFault } from '../../src/domain/fault.ts';
import { createManualPause } from '../support/manual-pause.ts';
import { until } from '../support/temp.ts';

const FAILED = { err: unavailableFault('The store cannot serve right now.', 1, new Error('connection lost')) };

function createFixture() {
  const lines: string[] = [];
  const fixture = { lines, isReady: true, checks: 0, nowMs: 5_000 };
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
      fixture.checks += 1;
      if (!fixture.isReady) throw new Error('away');
    },
    monotonicMs: () => fixture.nowMs,
    wait: pause,
  });
  const loggedLines = () => lines.filter((line) => !line.startsWith('debug'));
  return { fixture, log, stop, loggedLines, waiting, pass };
}

it('an outage of the store gives two lines, however many requests fail', async () => {
  const { fixture, log, loggedLines, waiting, pass } = createFixture();
  fixture.isReady = false;
  for (let request = 0; request < 50; request += 1) log.warn({ rpc: 'a', ...FAILED }, 'request refused');
  await until(() => waiting().length === 1);
  log.warn(FAILED, 'settlement failed');
  await pass();
  await until(() => waiting().length === 1);
  expect(loggedLines()).toEqual(['warn the store is away {"cause":"connection lost"}']);
  expect(fixture.lines.filter((line) => line.startsWith('debug'))).toHaveLength(50);
  fixture.isReady = true;
  fixture.nowMs += 3_000;
  await pass();
  await until(() => loggedLines().length === 2);
  expect(loggedLines()[1]).toBe('info the store is back {"awayMs":3000}');
  expect(waiting()).toEqual([]);
  fixture.isReady = false;
  log.warn(FAILED, 'request refused');
  await until(() => loggedLines().length === 3);
});

it('a failure while the store works is logged, without a stack', async () => {
  const { log, loggedLines } = createFixture();
  log.warn({ rpc: 'a', ...FAILED }, 'request refused');
  log.warn({ rpc: 'b', err: unavailableFault('Too much is waiting.', 1) }, 'request refused');
  await until(() => loggedLines().length === 1);
  expect(loggedLines()).toEqual(['warn request refused {"rpc":"a","cause":"connection lost"}']);
  log.warn({ rpc: 'c', err: unavailableFault('Too much is waiting.', 1) }, 'request refused');
  await until(() => loggedLines().length === 2);
  expect(loggedLines()[1]).toBe('warn request refused {"rpc":"c","cause":"Too much is waiting."}');
});

it('refused requests are logged only while the store works', async () => {
  const { fixture, log, loggedLines, waiting } = createFixture();
  const refused = { code: 'unavailable', status: 503 };
  log.warn(FAILED, 'a');
  log.info(refused, 'b');
  log.info({ code: 'invalid_credentials' }, 'c');
  await until(() => loggedLines().length === 3);
  expect(loggedLines().map((line) => line.slice(0, 6))).toEqual(['info c', 'warn a', 'info b']);
  fixture.isReady = false;
  log.warn(FAILED, 'd');
  log.info(refused, 'e');
  await until(() => waiting().length === 1);
  log.info(refused, 'f');
  expect(loggedLines()).toHaveLength(4);
});

it('a late count of requests refused during an outage is not logged', async () => {
  const { fixture, log, loggedLines, waiting, pass } = createFixture();
  const counted = { code: 'unavailable', count: 30 };
  fixture.isReady = false;
  log.warn(FAILED, 'a');
  await until(() => waiting().length === 1);
  fixture.isReady = true;
  await pass();
  await until(() => loggedLines().length === 2);
  fixture.nowMs += 1_000;
  log.info(counted, 'b');
  expect(loggedLines()).toHaveLength(2);
  fixture.nowMs += 1_500;
  log.info(counted, 'c');
  expect(loggedLines()[2]).toBe('info c {"code":"unavailable","count":30}');
});

it('everything else is logged at once', () => {
  const { fixture, log, loggedLines } = createFixture();
  fixture.isReady = false;
  log.warn({ err: new Error('x') }, 'a');
  log.warn({}, 'b');
  log.error(FAILED, 'c');
  log.info({}, 'd');
  expect(loggedLines().map((line) => line.slice(0, 8).trim())).toEqual(['warn a {', 'warn b {', 'error c', 'info d {']);
  expect(fixture.checks).toBe(0);
});

it('logs no recovery when it is stopped during an outage', async () => {
  const { fixture, log, stop, loggedLines, waiting } = createFixture();
  fixture.isReady = false;
  log.warn(FAILED, 'request refused');
  await until(() => waiting().length === 1);
  stop();
  await until(() => waiting().length === 0);
  expect(loggedLines()).toHaveLength(1);
});
