/** SDK clients for queues: one for each queue and credentials, kept for later attempts. */

import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { SQSClient, SQSClientConfig } from '@aws-sdk/client-sqs';
import type { KeyPair, SqsCredentials } from '../domain/endpoints/destination.ts';
import type { QueueAddress } from '../domain/endpoints/queue-url.ts';
import type { SocketCounts } from './meter.ts';
import { createRoleSessions } from './role-sessions.ts';

export type PooledClient = {
  readonly sdk: typeof import('@aws-sdk/client-sqs');
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** Secrets that no text may show: keys, tokens and external ids that this client was given or has fetched. */
  hidden(): readonly string[];
  /** The next attempt gets a new client, which fetches credentials again. */
  drop(): void;
};

export type SqsLimits = {
  /** Limit of a whole attempt: credentials, connection, sending and response. */
  readonly deadlineMs: number;
  readonly connectMs: number;
  /** Limit of clients kept for later attempts, one for each queue and credentials. */
  readonly clientsMax: number;
};

type ClientPoolDeps = { readonly tokenEndpoint: string | null; readonly limits: SqsLimits };

/** Empty for the credentials of the process, which the SDK finds by itself. */
type Identity = Pick<SQSClientConfig, 'credentials' | 'credentialDefaultProvider'>;

type ServiceAddress = { readonly region: string; readonly endpoint: string };
type Connections = {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly connectionTimeout: number;
};

/** The other side may close a connection that is idle for longer just when it is used. */
const IDLE_MAX_MS = 5_000;

export function createClientPool({ tokenEndpoint, limits }: ClientPoolDeps) {
  const pooled = new Map<string, Promise<PooledClient>>();
  // Shared by all clients, so that a client can be dropped while one of its attempts is in progress.
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
      return { ...useOnly(copyPair(credentials)), hidden: () => [accessKeyId, secretAccessKey] };
    }
    const service = { region: queue.region, endpoint: tokenEndpoint ?? queue.tokenEndpoint };
    const basics = basicsOf(service, connections);
    const sessions = createRoleSessions({
      role: credentials,
      basics: credentials.base === null ? basics : { ...basics, ...useOnly(copyPair(credentials.base)) },
      deadlineMs: limits.deadlineMs,
    });
    return { ...useOnly(sessions.begin), hidden: sessions.hidden };
  }

  async function create(queue: QueueAddress, credentials: SqsCredentials, drop: () => void): Promise<PooledClient> {
    // Loaded on first use, because the SDK costs memory and time, and most installations have no queue.
    const sdk = await import('@aws-sdk/client-sqs');
    const { hidden, ...identity } = identify(queue, credentials);
    // By default the SDK would send to the host that the queue's address names.
    const client = new sdk.SQSClient({ ...basicsOf(queue, connections), ...identity, useQueueUrlAsEndpoint: false });
    return { sdk, client, queueUrl: queue.queueUrl, hidden, drop };
  }

  return {
    acquire(queue: QueueAddress, credentials: SqsCredentials): Promise<PooledClient> {
      const key = keyOf(queue, credentials);
      const drop = () => {
        if (pooled.get(key) === made) pooled.delete(key);
      };
      const made = pooled.get(key) ?? create(queue, credentials, () => drop());
      // Moves the client to the end of the map, so that the first one is the least recently used.
      pooled.delete(key);
      pooled.set(key, made);
      const [oldest] = pooled.keys();
      if (pooled.size > limits.clientsMax && oldest !== undefined) pooled.delete(oldest);
      made.catch(drop);
      return made;
    },
    openSockets: () => countSockets([connections.httpAgent, connections.httpsAgent]),
    close(): void {
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

/** Hashed, so that the keys of the map contain no secrets. */
function keyOf({ queueUrl }: QueueAddress, credentials: SqsCredentials): string {
  return createHash('sha256')
    .update(JSON.stringify([queueUrl, credentials]))
    .digest('base64');
}

/** Sets everything that the SDK would otherwise read from the environment or from files of a home directory. */
function basicsOf({ region, endpoint }: ServiceAddress, connections: Connections) {
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

/** A copy, because the SDK writes into the object. */
function copyPair({ accessKeyId, secretAccessKey }: KeyPair): KeyPair {
  return { accessKeyId, secretAccessKey };
}

/** These credentials, and never others that the SDK would find by itself. */
function useOnly(credentials: NonNullable<Identity['credentials']>): Required<Identity> {
  return {
    credentials,
    credentialDefaultProvider: () => () => Promise.reject(new Error('The credentials of the process were asked for.')),
  };
}
