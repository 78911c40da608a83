/**
 * Bounds on what requests hold at once. Each resource has a total, and no address and no credential holds more than a
 * quarter of it, so that no single caller can shut out the others; a connection counts for its address. Whoever holds
 * nothing else always gets in while the total allows it, however small the quarter.
 */

import { unavailableFault } from '../domain/fault.ts';

/** How much of each resource there is, or is held. */
export type Amounts = {
  /** Requests whose body is still on its way. */
  arriving: number;
  /** Requests being worked on. */
  inFlight: number;
  /** Bytes of bodies, from the first byte until the request is answered. */
  bodyBytes: number;
  /** Bytes of answers, from when they are built until they are taken. */
  answerBytes: number;
};

/** What one request holds. Every method that takes something throws the unavailable Fault where there is no room. */
export type RequestQuota = {
  /** Takes a place for the request. */
  begin(): void;
  /** From now on what the request holds counts for this credential as well. */
  identify(credential: string): void;
  /** Counts bytes of the body. */
  receive(bytes: number): void;
  /** The body is complete: the place among the arriving is given up for one among those being worked on. */
  start(): void;
  /** The work is done: gives back the place and the body. What was counted of the answer stays. */
  finish(): void;
  /** Counts bytes of an answer that is being built. */
  build(bytes: number): void;
  /** Bytes counted of the answer so far. */
  built(): number;
  /** The answer is complete and this large, whatever was counted before. `force`: it must leave, room or not. */
  setAnswer(bytes: number, force: boolean): void;
  /** The answer was taken, or nobody is there to take it. Every request that began ends with this and finish(). */
  release(): void;
};

export type QuotaOrigin = {
  /** The address the request counts for; null once the connection is gone. */
  readonly address: string | null;
  /** Whether a body is awaited. */
  readonly hasBody: boolean;
};

export type Quotas = {
  open(origin: QuotaOrigin): RequestQuota;
  /** What is held now, all requests together. */
  held(): Readonly<Amounts>;
};

/** No address and no credential holds more than the total divided by this. */
const SHARES = 4;
const RETRY_AFTER_SECONDS = 1;

// Amounts are kept in arrays, by these indexes: every request moves them a dozen times.
const ARRIVING = 0;
const IN_FLIGHT = 1;
const BODY_BYTES = 2;
const ANSWER_BYTES = 3;
type Resource = typeof ARRIVING | typeof IN_FLIGHT | typeof BODY_BYTES | typeof ANSWER_BYTES;
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
  [ANSWER_BYTES]: {
    total: 'Too many answers wait to be taken; try again.',
    share: 'Too many answers wait for this caller to take them; take them, or try again.',
  },
};

/** What the requests of one address or one credential hold together. */
type Holder = {
  readonly key: string;
  readonly held: Amount4;
  /** Requests that count for it; nobody remembers one without. */
  requests: number;
};
type Holders = Map<string, Holder>;

export function createQuotas(limits: Readonly<Amounts>): Quotas {
  const limit: Amount4 = [limits.arriving, limits.inFlight, limits.bodyBytes, limits.answerBytes];
  const share = limit.map((amount) => Math.max(1, Math.floor(amount / SHARES))) as Amount4;
  const total: Amount4 = [0, 0, 0, 0];
  const addresses: Holders = new Map();
  const credentials: Holders = new Map();

  function open({ address, hasBody }: QuotaOrigin): RequestQuota {
    const mine: Amount4 = [0, 0, 0, 0];
    let byAddress: Holder | null = null;
    let byCredential: Holder | null = null;
    let phase: typeof ARRIVING | typeof IN_FLIGHT = hasBody ? ARRIVING : IN_FLIGHT;
    let isWorking = false;
    let isAnswering = false;

    function add(resource: Resource, amount: number): void {
      if (amount === 0) return;
      mine[resource] += amount;
      total[resource] += amount;
      if (byAddress) byAddress.held[resource] += amount;
      if (byCredential) byCredential.held[resource] += amount;
    }

    /** Whoever holds nothing but what the request itself holds is within any share. */
    function isWithinShare(holder: Holder | null, resource: Resource, amount: number): boolean {
      if (holder === null) return true;
      const held = holder.held[resource];
      return held + amount <= share[resource] || held === mine[resource];
    }

    function requireShare(resource: Resource, amount: number): void {
      if (isWithinShare(byAddress, resource, amount) && isWithinShare(byCredential, resource, amount)) return;
      throw unavailableFault(REFUSALS[resource].share, RETRY_AFTER_SECONDS);
    }

    function take(resource: Resource, amount: number): void {
      // Whoever still reads for a request that has ended would count for nobody, and for ever.
      if (resource === BODY_BYTES && !isWorking)
        throw unavailableFault(REFUSALS[BODY_BYTES].share, RETRY_AFTER_SECONDS);
      if (total[resource] + amount > limit[resource] && total[resource] !== mine[resource]) {
        throw unavailableFault(REFUSALS[resource].total, RETRY_AFTER_SECONDS);
      }
      requireShare(resource, amount);
      add(resource, amount);
    }

    /** Forgets whom the request counts for once it will hold nothing any more. */
    function leave(): void {
      if (isWorking || isAnswering) return;
      add(ANSWER_BYTES, -mine[ANSWER_BYTES]);
      if (byAddress) leaveHolder(addresses, byAddress);
      if (byCredential) leaveHolder(credentials, byCredential);
      byAddress = null;
      byCredential = null;
    }

    return {
      begin() {
        if (address !== null) byAddress = joinHolder(addresses, address);
        try {
          // Nobody sends a body in vain while there is no place to work on it.
          if (phase === ARRIVING && total[IN_FLIGHT] >= limit[IN_FLIGHT]) {
            throw unavailableFault(REFUSALS[IN_FLIGHT].total, RETRY_AFTER_SECONDS);
          }
          take(phase, 1);
          // Whoever is over the budget already, by answers that had to be told, asks for no further ones.
          take(ANSWER_BYTES, 0);
          isWorking = true;
          isAnswering = true;
        } catch (error) {
          add(phase, -mine[phase]);
          leave();
          throw error;
        }
      },
      identify(credential) {
        // Joined first, so that a refused request is counted out again like any other.
        byCredential = joinHolder(credentials, credential);
        byCredential.held[phase] += mine[phase];
        requireShare(phase, 0);
        requireShare(ANSWER_BYTES, 0);
      },
      receive: (bytes) => take(BODY_BYTES, bytes),
      start() {
        if (phase === IN_FLIGHT) return;
        add(ARRIVING, -mine[ARRIVING]);
        phase = IN_FLIGHT;
        take(IN_FLIGHT, 1);
      },
      finish() {
        add(phase, -mine[phase]);
        add(BODY_BYTES, -mine[BODY_BYTES]);
        isWorking = false;
        leave();
      },
      build: (bytes) => take(ANSWER_BYTES, bytes),
      built: () => mine[ANSWER_BYTES],
      setAnswer(bytes, force) {
        const more = bytes - mine[ANSWER_BYTES];
        if (more > 0 && !force) take(ANSWER_BYTES, more);
        else add(ANSWER_BYTES, more);
      },
      release() {
        add(ANSWER_BYTES, -mine[ANSWER_BYTES]);
        isAnswering = false;
        leave();
      },
    };
  }

  return {
    open,
    held: () => ({ arriving: total[0], inFlight: total[1], bodyBytes: total[2], answerBytes: total[3] }),
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
