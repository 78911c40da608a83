/** The clients through which queues are reached: one for each queue and credentials, kept while they are of use. */

import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { SQSClient, SQSClientConfig } from '@aws-sdk/client-sqs';
import type { KeyPair, SqsCredentials } from '../domain/destination.ts';
import type { QueueAddress } from '../domain/queue-url.ts';
import type { SocketCounts } from './meter.ts';
import { createRoleSessions } from './role-sessions.ts';
import type { SqsLimits } from './sqs.ts';

export type PooledClient = {
  readonly sdk: typeof import('@aws-sdk/client-sqs');
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** What no text may show: keys, tokens and external ids that this client was given or has fetched. */
  hidden(): readonly string[];
  /** The next attempt gets another client, which fetches credentials anew. */
  drop(): void;
};

export type ClientPool = {
  take(queue: QueueAddress, credentials: SqsCredentials): Promise<PooledClient>;
  openSockets(): SocketCounts;
  close(): void;
};

export type ClientPoolDeps = { readonly tokenEndpoint: string | null; readonly limits: SqsLimits };

/** What every client of the SDK is told, whatever its service. */
export type ClientBasics = ReturnType<typeof basicsOf>;

/** Absent for the credentials of the process, which the SDK then looks for by itself. */
type Identity = Pick<SQSClientConfig, 'credentials' | 'credentialDefaultProvider'>;

type Place = { readonly region: string; readonly endpoint: string };
type Connections = {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly connectionTimeout: number;
};

/** A connection that lay idle for longer may be closed by the other side just when it is used. */
const IDLE_MAX_MS = 5_000;

export function createClientPool({ tokenEndpoint, limits }: ClientPoolDeps): ClientPool {
  const pooled = new Map<string, Promise<PooledClient>>();
  // Shared by all clients, so that one can be forgotten while an attempt of it is in progress.
  const agentOptions = { keepAlive: true, timeout: IDLE_MAX_MS };
  const connections = {
    httpAgent: new HttpAgent(agentOptions),
    httpsAgent: new HttpsAgent({ ...agentOptions, rejectUnauthorized: true }),
    connectionTimeout: limits.connectMs,
  };

  function identify(queue: QueueAddress, credentials: SqsCredentials): Identity & Pick<PooledClient, 'hidden'> {
    if (credentials.mode === 'ambient') return { hidden: () => [] };
    if (credentials.mode === 'static') {
      const { accessKeyId, secretAccessKey } = credentials;
      return { ...only(copyPair(credentials)), hidden: () => [accessKeyId, secretAccessKey] };
    }
    const place = { region: queue.region, endpoint: tokenEndpoint ?? queue.tokenEndpoint };
    const basics = basicsOf(place, connections);
    const sessions = createRoleSessions({
      role: credentials,
      basics: credentials.base === null ? basics : { ...basics, ...only(copyPair(credentials.base)) },
      deadlineMs: limits.deadlineMs,
    });
    return { ...only(sessions.begin), hidden: sessions.hidden };
  }

  async function create(queue: QueueAddress, credentials: SqsCredentials, drop: () => void): Promise<PooledClient> {
    // Loading the SDK costs memory and time, which nobody pays who has no queue.
    const sdk = await import('@aws-sdk/client-sqs');
    const { hidden, ...identity } = identify(queue, credentials);
    // By default it would send to whatever host the address of the queue names.
    const client = new sdk.SQSClient({ ...basicsOf(queue, connections), ...identity, useQueueUrlAsEndpoint: false });
    return { sdk, client, queueUrl: queue.queueUrl, hidden, drop };
  }

  return {
    take(queue, credentials) {
      const key = keyOf(queue, credentials);
      const drop = () => {
        if (pooled.get(key) === made) pooled.delete(key);
      };
      const made = pooled.get(key) ?? create(queue, credentials, () => drop());
      // To the end of the line, whose head is what nobody has used for longest.
      pooled.delete(key);
      pooled.set(key, made);
      const [oldest] = pooled.keys();
      if (pooled.size > limits.clientsMax && oldest !== undefined) pooled.delete(oldest);
      made.catch(drop);
      return made;
    },
    openSockets: () => countSockets([connections.httpAgent, connections.httpsAgent]),
    close() {
      pooled.clear();
      connections.httpAgent.destroy();
      connections.httpsAgent.destroy();
    },
  };
}

function countSockets(agents: readonly HttpAgent[]): SocketCounts {
  const count = (lists: HttpAgent['sockets']) =>
    Object.values(lists).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  return {
    inUse: agents.reduce((sum, { sockets }) => sum + count(sockets), 0),
    idle: agents.reduce((sum, { freeSockets }) => sum + count(freeSockets), 0),
  };
}

/** Nobody needs to find a secret among the keys of a map. */
function keyOf({ queueUrl }: QueueAddress, credentials: SqsCredentials): string {
  return createHash('sha256')
    .update(JSON.stringify([queueUrl, credentials]))
    .digest('base64');
}

/** Says everything that the SDK would otherwise look up in the environment or in the files of a home directory. */
function basicsOf({ region, endpoint }: Place, connections: Connections) {
  return {
    region,
    endpoint,
    maxAttempts: 1,
    retryMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableClockSkewCorrection: false,
    authSchemePreference: [],
    userAgentAppId: async () => undefined,
    requestHandler: connections,
  };
}

/** The SDK writes notes of its own into the object it is given. */
function copyPair({ accessKeyId, secretAccessKey }: KeyPair): KeyPair {
  return { accessKeyId, secretAccessKey };
}

/** These credentials, and never those that the SDK would find by itself. */
function only(credentials: NonNullable<Identity['credentials']>): Required<Identity> {
  return {
    credentials,
    credentialDefaultProvider: () => () => Promise.reject(new Error('The credentials of the process were asked for.')),
  };
}
