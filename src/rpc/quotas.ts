/**
 * Quotas of requests. Each resource has a total, and no address and no credential holds more than a quarter of it, so that
 * no single caller can lock out the others. A caller that holds nothing of a resource may exceed the quarter with one
 * request, while the total allows it.
 */

import { unavailableFault } from '../domain/fault.ts';

/** An amount of each resource: a limit, or what is in use. */
export type Amounts = {
  /** Requests whose body has not arrived completely. */
  arriving: number;
  /** Requests being worked on. */
  inFlight: number;
  /** Bytes of request bodies, from the first byte until the request has its response. */
  bodyBytes: number;
  /** Bytes of responses, from when they are built until the client has read them. */
  responseBytes: number;
};

/** The quota of one request. Every method that acquires something throws the unavailable Fault where there is no room. */
export type RequestQuota = {
  /** Counts the request, as arriving or in flight. */
  begin(): void;
  /** From now on the request also counts for this credential. */
  identify(credential: string): void;
  /** Whom the request counts for: the credential, once it is identified, or else the address. */
  owner(): string;
  /** Counts bytes of the body. */
  receive(bytes: number): void;
  /** The body is complete: the request changes from arriving to in flight. */
  start(): void;
  /** The work is done: releases everything but the bytes of the response. */
  finish(): void;
  /** Counts bytes of a response that is being built. */
  addResponse(bytes: number): void;
  /** The bytes of the response counted so far. */
  responseBytes(): number;
  /** Sets the size of the complete response, replacing what was counted before. `force`: it may exceed the limits. */
  setResponse(bytes: number, force: boolean): void;
  /** The client has read the response, or has disconnected. Every request that began ends with this and finish(). */
  release(): void;
};

type QuotaOrigin = {
  /** The address the request counts for; null once the connection is gone. */
  readonly address: string | null;
  /** Whether the request has a body that is still to arrive. */
  readonly hasBody: boolean;
};

export type Quotas = {
  open(origin: QuotaOrigin): RequestQuota;
  /** What all requests together use now. */
  held(): Readonly<Amounts>;
};

/** No address and no credential holds more than the total divided by this. */
const SHARES = 4;
const RETRY_AFTER_SECONDS = 1;

// Amounts are kept in arrays by these indexes, because every request changes them a dozen times.
const ARRIVING = 0;
const IN_FLIGHT = 1;
const BODY_BYTES = 2;
const RESPONSE_BYTES = 3;
type Resource = typeof ARRIVING | typeof IN_FLIGHT | typeof BODY_BYTES | typeof RESPONSE_BYTES;
type Amount4 = [number, number, number, number];

const REFUSALS: { readonly [R in Resource]: { readonly total: string; readonly share: string } } = {
  [ARRIVING]: {
    total: 'Too many request bodies are on their way; try again.',
    share: 'Too many request bodies of this caller are on their way; try again.',
  },
  [IN_FLIGHT]: {
    total: 'Too many requests are in progress; try again.',
    share: 'Too many requests of this caller are in progress; try again.',
  },
  [BODY_BYTES]: {
    total: 'Too many bytes of request bodies are on their way; try again.',
    share: 'Too many bytes of request bodies of this caller are on their way; try again.',
  },
  [RESPONSE_BYTES]: {
    total: 'Too many answers wait to be taken; try again.',
    share: 'Too many answers wait for this caller to take them; take them, or try again.',
  },
};

/** What the requests of one address or one credential hold together. */
type Holder = {
  readonly key: string;
  readonly held: Amount4;
  /** Requests that count for it; a holder without any is removed. */
  requests: number;
};
type Holders = Map<string, Holder>;

export function createQuotas(limits: Readonly<Amounts>): Quotas {
  const limit: Amount4 = [limits.arriving, limits.inFlight, limits.bodyBytes, limits.responseBytes];
  const share = limit.map((amount) => Math.max(1, Math.floor(amount / SHARES))) as Amount4;
  const total: Amount4 = [0, 0, 0, 0];
  const addresses: Holders = new Map();
  const credentials: Holders = new Map();

  function open({ address, hasBody }: QuotaOrigin): RequestQuota {
    const own: Amount4 = [0, 0, 0, 0];
    let byAddress: Holder | null = null;
    let byCredential: Holder | null = null;
    let phase: typeof ARRIVING | typeof IN_FLIGHT = hasBody ? ARRIVING : IN_FLIGHT;
    let isWorking = false;
    let isResponding = false;

    function add(resource: Resource, amount: number): void {
      if (amount === 0) return;
      own[resource] += amount;
      total[resource] += amount;
      if (byAddress) byAddress.held[resource] += amount;
      if (byCredential) byCredential.held[resource] += amount;
    }

    /** A holder that uses nothing beyond this request itself is within its share. */
    function isWithinShare(holder: Holder | null, resource: Resource, amount: number): boolean {
      if (holder === null) return true;
      const held = holder.held[resource];
      return held + amount <= share[resource] || held === own[resource];
    }

    function requireShare(resource: Resource, amount: number): void {
      if (isWithinShare(byAddress, resource, amount) && isWithinShare(byCredential, resource, amount)) return;
      throw unavailableFault(REFUSALS[resource].share, RETRY_AFTER_SECONDS);
    }

    function acquire(resource: Resource, amount: number): void {
      // Body bytes counted after the request has ended would never be released.
      if (resource === BODY_BYTES && !isWorking)
        throw unavailableFault(REFUSALS[BODY_BYTES].share, RETRY_AFTER_SECONDS);
      if (total[resource] + amount > limit[resource] && total[resource] !== own[resource]) {
        throw unavailableFault(REFUSALS[resource].total, RETRY_AFTER_SECONDS);
      }
      requireShare(resource, amount);
      add(resource, amount);
    }

    /** Detaches the request from its holders once it has ended and its response is read. */
    function leave(): void {
      if (isWorking || isResponding) return;
      add(RESPONSE_BYTES, -own[RESPONSE_BYTES]);
      if (byAddress) leaveHolder(addresses, byAddress);
      if (byCredential) leaveHolder(credentials, byCredential);
      byAddress = null;
      byCredential = null;
    }

    return {
      begin() {
        if (address !== null) byAddress = joinHolder(addresses, address);
        try {
          // Refused before the body is sent, where there would be no room to work on it.
          if (phase === ARRIVING && total[IN_FLIGHT] >= limit[IN_FLIGHT]) {
            throw unavailableFault(REFUSALS[IN_FLIGHT].total, RETRY_AFTER_SECONDS);
          }
          acquire(phase, 1);
          // Forced responses may have exceeded the limits; then no new request is admitted.
          acquire(RESPONSE_BYTES, 0);
          isWorking = true;
          isResponding = true;
        } catch (error) {
          add(phase, -own[phase]);
          leave();
          throw error;
        }
      },
      identify(credential) {
        // Joined before the check, so that a refused request is released like any other.
        byCredential = joinHolder(credentials, credential);
        byCredential.held[phase] += own[phase];
        requireShare(phase, 0);
        requireShare(RESPONSE_BYTES, 0);
      },
      owner: () => (byCredential ?? byAddress)?.key ?? '',
      receive: (bytes) => acquire(BODY_BYTES, bytes),
      start() {
        if (phase === IN_FLIGHT) return;
        add(ARRIVING, -own[ARRIVING]);
        phase = IN_FLIGHT;
        acquire(IN_FLIGHT, 1);
      },
      finish() {
        add(phase, -own[phase]);
        add(BODY_BYTES, -own[BODY_BYTES]);
        isWorking = false;
        leave();
      },
      addResponse: (bytes) => acquire(RESPONSE_BYTES, bytes),
      responseBytes: () => own[RESPONSE_BYTES],
      setResponse(bytes, force) {
        const more = bytes - own[RESPONSE_BYTES];
        if (more > 0 && !force) acquire(RESPONSE_BYTES, more);
        else add(RESPONSE_BYTES, more);
      },
      release() {
        add(RESPONSE_BYTES, -own[RESPONSE_BYTES]);
        isResponding = false;
        leave();
      },
    };
  }

  return {
    open,
    held: () => ({ arriving: total[0], inFlight: total[1], bodyBytes: total[2], responseBytes: total[3] }),
  };
}

function joinHolder(holders: Holders, key: string): Holder {
  let holder = holders.get(key);
  if (holder === undefined) {
    holder = { key, held: [0, 0, 0, 0], requests: 0 };
    holders.set(key, holder);
  }
  holder.requests += 1;
  return holder;
}

function leaveHolder(holders: Holders, holder: Holder): void {
  holder.requests -= 1;
  if (holder.requests === 0) holders.delete(holder.key);
}
