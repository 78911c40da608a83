/** Asks the server on this machine whether it is ready, as container platforms do. */

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { type Config, readConfig } from '../config/config.ts';
import type { Environment } from './io.ts';
import { memberOf } from './text.ts';

export type HealthAnswer = { readonly isReady: boolean; readonly says: string };

const TIMEOUT_MS = 4_000;
const EVERY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Resolves with what to print. Rejects with one line for the operator when no server is ready. */
export async function healthcheck(environment: Environment): Promise<string> {
  const config = readConfig(environment);
  if (config.port === 0) throw new Error('SPANDREL_PORT=0 picks another port with every start; set one to ask there');
  const answer = await askReadiness(config).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    throw new Error(`no server answers on port ${config.port} (${reason})`, { cause: error });
  });
  if (answer === null) throw new Error(`another program answers on port ${config.port}`);
  if (!answer.isReady) throw new Error(`the server is not ready: ${answer.says}`);
  return `${answer.says}\n`;
}

/** Null: what answers is not Spandrel. Rejects when nothing answers in time. */
export async function askReadiness({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>) {
  const request = tls === null ? requestHttp : requestHttps;
  const target = { host: EVERY_ADDRESS.get(host) ?? host, port, path: '/readyz', agent: false };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // The certificate names the public host, and the question holds nothing secret.
  const asked = request({ ...target, signal, rejectUnauthorized: false });
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject).end();
  });
  return readAnswer(await text(response), response.statusCode === 200);
}

function readAnswer(body: string, isReady: boolean): HealthAnswer | null {
  try {
    const read: unknown = JSON.parse(body);
    const [status, detail] = [memberOf(read, 'status'), memberOf(read, 'detail')];
    if (typeof status !== 'string') return null;
    return { isReady, says: typeof detail === 'string' ? `${status}: ${detail}` : status };
  } catch {
    return null;
  }
}
