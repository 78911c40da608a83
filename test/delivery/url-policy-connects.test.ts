import { randomUUID } from 'node:crypto';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkNewUrl } from '../../src/domain/endpoints/url-policy.ts';
import { answering, createTestSender, OK, policyWith, startRawReceiver } from '../support/http-sending.ts';
import { forbiddenUrls } from './forbidden-urls.ts';

const REFUSED = {
  kind: 'refused',
  responseStatus: null,
  error: 'url_refused: the destination is not allowed',
  terminalHint: true,
  isSenderFault: false,
};

describe('an attempt', () => {
  it('connects to no forbidden address, however it is spelled, and says what saving says', async () => {
    const lookups: string[] = [];
    const resolve = (host: string) => {
      lookups.push(host);
      return Promise.reject(new Error('no answer'));
    };
    const sender = createTestSender({ allowed: '', resolve });
    for (const url of forbiddenUrls()) {
      expect(await sender.attempt(url), url).toMatchObject(REFUSED);
      expect(await sender.attempt(url, { test: true, dispatchId: `test:${randomUUID()}` }), url).toMatchObject(REFUSED);
      expect(await checkNewUrl(policyWith(''), resolve, url), url).not.toBeNull();
    }
    expect(sender.connects).toEqual([]);
    expect(lookups).toEqual([]);
  });

  it.each([
    [['10.0.0.1']],
    [['93.184.216.34', '10.0.0.1']],
    [['93.184.216.34', '::ffff:127.0.0.1']],
    [['2606:2800:220:1::1', 'fe80::1']],
    [['64:ff9b::7f00:1']],
    [['2002:7f00:1::']],
    [['169.254.169.254', '93.184.216.34']],
    [['not an address']],
    [['93.184.216.34', '127.1']],
  ])('connects to none of the answers %j, because one is forbidden', async (addresses) => {
    const sender = createTestSender({ allowed: '', resolve: () => Promise.resolve(addresses) });
    expect(await sender.attempt('https://example.com/hook')).toMatchObject(REFUSED);
    expect(sender.connects).toEqual([]);
  });

  it('resolves again, so a host whose addresses changed after it was saved is checked', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const resolve = () => Promise.resolve(answers.shift() ?? ['127.0.0.1']);
    const sender = createTestSender({ allowed: '', resolve });
    expect(await checkNewUrl(policyWith(''), resolve, 'https://rebinding.example/')).toBeNull();
    expect(await sender.attempt('https://rebinding.example/')).toMatchObject(REFUSED);
    expect(sender.connects).toEqual([]);
  });

  it('sends nothing over a kept connection to an address that the host no longer has', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const sender = createTestSender({
      allowed: 'hooks.example',
      resolve: () => Promise.resolve(answers.shift() ?? []),
      connect: (options) => realConnectTo(receiver.port, options),
    });
    for (let count = 0; count < 2; count += 1) {
      await sender.attempt(`http://hooks.example:${receiver.port}/`);
    }
    expect(sender.connects.map(({ host }) => host)).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  it('writes nothing to a peer other than the vetted one', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({
      allowed: '127.0.0.2',
      connect: (options) => realConnectTo(receiver.port, { ...options, host: '127.0.0.1' }),
    });
    expect(await sender.attempt(`http://127.0.0.2:${receiver.port}/`)).toMatchObject(REFUSED);
    expect(receiver.received.every((bytes) => bytes.length === 0)).toBe(true);
  });

  it('follows no redirect', async () => {
    const statuses = [301, 302, 303, 307, 308];
    for (const status of statuses) {
      const receiver = await startRawReceiver(
        answering(`HTTP/1.1 ${status} Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n`),
      );
      const sender = createTestSender();
      const result = await sender.attempt(receiver.url);
      expect(result).toMatchObject({ kind: 'refused', error: `HTTP ${status}`, terminalHint: true });
      expect(sender.connects.map(({ port }) => port)).toEqual([receiver.port]);
    }
  });

  it('opens with the list exactly what is on it', async () => {
    const receiver = await startRawReceiver(answering(OK));
    const sender = createTestSender({ allowed: `127.0.0.1:${receiver.port}` });
    expect(await sender.attempt(receiver.url)).toMatchObject({ kind: 'accepted' });
    expect(sender.connects).toHaveLength(1);
    expect(await sender.attempt(receiver.url.replace('127.0.0.1', '127.0.0.2'))).toMatchObject(REFUSED);
    expect(await sender.attempt('http://127.0.0.1:1/')).toMatchObject(REFUSED);
    expect(sender.connects).toHaveLength(1);
  });
});

function realConnectTo(port: number, options: TcpNetConnectOpts): Socket {
  return connect({ ...options, port });
}
