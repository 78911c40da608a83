/** Resolves hosts without the thread pool that files and cryptography share. */

import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

type ResolverDeps = {
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Queries to the name server; each rejects when there is no answer. */
  readonly nameServer?: NameServer;
  /** The text of this machine's hosts file. */
  readonly readHosts?: () => Promise<string>;
};

export type NameServer = {
  readonly ipv4: (host: string) => Promise<readonly string[]>;
  readonly ipv6: (host: string) => Promise<readonly string[]>;
};

type Known = { readonly addresses: readonly string[]; readonly untilMs: number };

const KEPT_MS = 30_000;
const KEPT_MAX = 10_000;
/** Both tries together take less than half of an attempt, so that one silent name server does not use it up. */
const QUERY = { timeout: 1_500, tries: 2, maxTimeout: 3_000 };
const HOSTS_FILE = '/etc/hosts';
/** The addresses of `localhost` where the hosts file has none. */
const LOCALHOST = ['127.0.0.1', '::1'];

export function createResolver({ nowMs, nameServer = createNameServer(), readHosts = readHostsFile }: ResolverDeps) {
  const known = new Map<string, Known>();
  const running = new Map<string, Promise<readonly string[]>>();

  const keep = (host: string, addresses: readonly string[]) => {
    known.delete(host);
    if (known.size >= KEPT_MAX) {
      const [oldest = ''] = known.keys();
      known.delete(oldest);
    }
    known.set(host, { addresses, untilMs: nowMs() + KEPT_MS });
    return addresses;
  };
  const start = (host: string) => {
    const lookup = lookUp(host, nameServer, readHosts)
      .then((addresses) => keep(host, addresses))
      .finally(() => running.delete(host));
    running.set(host, lookup);
    return lookup;
  };
  return {
    /** Resolves to all addresses of the host, IPv4 first. Rejects when there is none, or no answer in time. */
    async resolve(host: string, timeoutMs: number): Promise<readonly string[]> {
      const found = known.get(host);
      if (found && nowMs() < found.untilMs) return found.addresses;
      return await within(running.get(host) ?? start(host), timeoutMs);
    },
  };
}

async function lookUp(
  host: string,
  nameServer: NameServer,
  readHosts: () => Promise<string>,
): Promise<readonly string[]> {
  const local = addressesIn(await readHosts().catch(() => ''), host);
  if (local.length > 0) return local;
  if (host === 'localhost') return LOCALHOST;
  const answers = await Promise.allSettled([nameServer.ipv4(host), nameServer.ipv6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0) throw new Error('the host has no address');
  return addresses;
}

/** The addresses of a name in a hosts file, IPv4 first. */
function addressesIn(hosts: string, name: string): string[] {
  const addresses: string[] = [];
  for (const line of hosts.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address && names.some((each) => each.toLowerCase() === name)) addresses.push(address);
  }
  return [...new Set(addresses)].sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
}

function createNameServer(): NameServer {
  const resolver = new Resolver(QUERY);
  return { ipv4: (host) => resolver.resolve4(host), ipv6: (host) => resolver.resolve6(host) };
}

function readHostsFile(): Promise<string> {
  return readFile(HOSTS_FILE, 'utf8');
}

/** After a timeout the lookup continues, for the next call. */
function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
