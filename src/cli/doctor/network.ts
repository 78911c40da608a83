/** Looks at the port of the server, at its certificate, and at what the server calls: the model endpoint and providers. */

import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { AllowEntry } from '../../domain/endpoints/url-allow-list.ts';
import { checkNewUrl, createUrlPolicy, mailTargetOf } from '../../domain/endpoints/url-policy.ts';
import type { Installed } from '../../storage/open.ts';
import { askReadiness } from '../healthcheck.ts';
import { readTlsFiles } from '../tls-files.ts';
import { type Finding, findingsAbout, reasonOf } from './finding.ts';

export async function checkPort(config: Config): Promise<Finding> {
  const about = findingsAbout('port');
  const { host, port } = config;
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return about.ok(port === 0 ? 'the system picks one' : `${port} is free on ${host}`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EADDRINUSE') return await checkServer(config);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      return about.fail(`${host} is not an address of this machine: set SPANDREL_HOST to one, or to 0.0.0.0`);
    }
    if (code === 'EACCES') return about.fail(`this user may not listen on ${port}: set SPANDREL_PORT above 1023`);
    return about.fail(`nothing can listen on ${host}:${port} (${reasonOf(error)})`);
  } finally {
    server.close();
  }
}

async function checkServer(config: Config): Promise<Finding> {
  const about = findingsAbout('port');
  const answer = await askReadiness(config).catch(() => null);
  if (answer === null) {
    return about.fail(`another program listens on ${config.port}: stop it, or set SPANDREL_PORT to another port`);
  }
  return answer.isReady
    ? about.ok(`a server runs on ${config.port}: ${answer.says}`)
    : about.warn(`a server runs on ${config.port} and is not ready: ${answer.says}`);
}

const DAY_MS = 86_400_000;
const RENEW_BEFORE_DAYS = 14;

export function checkTls({ tls }: Config, nowMs: number): Finding {
  const about = findingsAbout('TLS');
  if (tls === null) return about.ok('off; a proxy in front may have it');
  try {
    const { validTo } = new X509Certificate(readTlsFiles(tls).cert);
    const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
    if (days < 0) return about.fail(`the certificate of SPANDREL_TLS_CERT has expired on ${validTo}: renew it`);
    const text = `the certificate is valid for ${days} days`;
    return days < RENEW_BEFORE_DAYS ? about.warn(`${text}: renew it`) : about.ok(text);
  } catch (error) {
    return about.fail(`${reasonOf(error)}: correct SPANDREL_TLS_CERT and SPANDREL_TLS_KEY`);
  }
}

/** Shorter prefixes than those of the private networks open much more than somebody's own. */
const PREFIX_BITS_MIN = { 4: 8, 6: 16 };

/** The private destinations that the settings open. */
export async function checkAllowLists({ webhooks, gateway }: Config): Promise<readonly Finding[]> {
  return [
    await checkAllowList('SPANDREL_WEBHOOK_ALLOW', webhooks.allow),
    await checkAllowList('SPANDREL_GATEWAY_ALLOW', gateway.allow),
  ];
}

async function checkAllowList(setting: string, entries: readonly AllowEntry[]): Promise<Finding> {
  const about = findingsAbout('address policy');
  const isWide = (entry: AllowEntry) =>
    entry.kind === 'range' && entry.range.prefixBits < PREFIX_BITS_MIN[entry.range.base.family];
  if (entries.some(isWide)) {
    return about.warn(`${setting} opens a network that is larger than any private one: name only what is needed`);
  }
  for (const entry of entries) {
    if (entry.kind !== 'host') continue;
    const problem = await lookup(entry.host).then(() => null, reasonOf);
    if (problem !== null)
      return about.warn(`${setting} names ${entry.host}, which does not resolve: correct or remove it`);
  }
  const opened = entries.length === 0 ? 'nothing private' : `${entries.length} private destinations`;
  return about.ok(`${setting} opens ${opened}`);
}

const ANSWER_MAX_MS = 5_000;

/** Whether the mail server can be reached; no mail is sent. */
export async function checkMailServer({ mailServer, webhooks }: Config): Promise<Finding> {
  const about = findingsAbout('mail server');
  if (mailServer === null) return about.ok('SPANDREL_SMTP_URL is not set: triggers send no e-mails');
  const target = mailTargetOf(mailServer.url);
  const found = await lookup(target.host, { all: true }).catch(() => []);
  const addresses = found.map(({ address }) => address);
  if (addresses.length === 0) return about.fail('the host of SPANDREL_SMTP_URL does not resolve: correct it');
  if (!createUrlPolicy(webhooks.allow).mayReach(target, addresses)) {
    return about.fail('the mail server has a private address: name it in SPANDREL_WEBHOOK_ALLOW');
  }
  const socket = connect({ host: addresses[0] ?? '', port: target.port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    return about.ok('the mail server can be reached');
  } catch (error) {
    return about.fail(`the mail server cannot be reached (${reasonOf(error)}): correct SPANDREL_SMTP_URL`);
  } finally {
    socket.destroy();
  }
}

/** Asks for the list of models, which costs nothing. */
export async function checkLlm({ llm }: Config): Promise<Finding> {
  const about = findingsAbout('LLM endpoint');
  if (llm.baseUrl === null)
    return about.ok('SPANDREL_LLM_BASE_URL is not set: evaluators that need a model are skipped');
  const headers: Record<string, string> = llm.apiKey === null ? {} : { authorization: `Bearer ${llm.apiKey}` };
  const { origin } = new URL(llm.baseUrl);
  const status = await statusOf(`${llm.baseUrl}/models`, headers).catch(reasonOf);
  if (typeof status === 'string') {
    return about.fail(
      `${origin} does not answer (${status}): correct SPANDREL_LLM_BASE_URL, or let this machine reach it`,
    );
  }
  if (status === 401 || status === 403) return about.fail(`${origin} refuses the key: correct SPANDREL_LLM_API_KEY`);
  return status >= 500 ? about.warn(`${origin} answers ${status}: look at its state`) : about.ok(`${origin} answers`);
}

/** Without a key: it is only asked whether the provider can be reached. */
export async function checkProviders(
  { gateway }: Config,
  providers: Installed['providers'],
): Promise<readonly Finding[]> {
  const policy = createUrlPolicy(gateway.allow, 'SPANDREL_GATEWAY_ALLOW');
  const resolve = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);
  return await Promise.all(
    providers.map(async ({ name, baseUrl }) => {
      const about = findingsAbout(`provider ${name}`);
      const refusal = await checkNewUrl(policy, resolve, baseUrl);
      if (refusal !== null) return about.fail(`the address policy refuses it. ${refusal.message}`);
      const status = await statusOf(baseUrl, {}).catch(reasonOf);
      return typeof status === 'number'
        ? about.ok(`${new URL(baseUrl).origin} answers`)
        : about.warn(
            `${new URL(baseUrl).origin} does not answer (${status}): let this machine reach it, or disable it`,
          );
    }),
  );
}

export async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  await response.body?.cancel();
  return response.status;
}
