/**
 * Bounds on what requests hold at once. Each resource has a total, and nobody (an address, a credential, a connection)
 * holds more than a quarter of it, so that no single caller can shut out the others. Whoever holds nothing else always
 * gets in while the total allows it, however small the quarter.
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

type Resource = keyof Amounts;

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
  /** The answer is complete and this large, whatever was counted before. `force`: it must leave, room or not. */
  setAnswer(bytes: number, force: boolean): void;
  /** The answer was taken, or nobody is there to take it. Every request that began ends with this and finish(). */
  release(): void;
};

export type QuotaOrigin = {
  /** The address the request counts for; null once the connection is gone. */
  readonly address: string | null;
  /** Identifies the connection the request counts for; null once it is gone. */
  readonly connection: object | null;
  /** Whether a body is awaited. */
  readonly hasBody: boolean;
};

export type Quotas = {
  open(origin: QuotaOrigin): RequestQuota;
  /** What is held now, all requests together. */
  held(): Readonly<Amounts>;
};

/** No address, credential or connection holds more than the total divided by this. */
const SHARES = 4;
const RETRY_AFTER_SECONDS = 1;
const RESOURCES: readonly Resource[] = ['arriving', 'inFlight', 'bodyBytes', 'answerBytes'];

const REFUSALS: { readonly [R in Resource]: { readonly total: string; readonly share: string } } = {
  arriving: {
    total: 'Too many request bodies are on their way; try again.',
    share: 'Too many request bodies of this caller are on their way; try again.',
  },
  inFlight: {
    total: 'Too many requests are in progress; try again.',
    share: 'Too many requests of this caller are in progress; try again.',
  },
  bodyBytes: {
    total: 'Too many bytes of request bodies are on their way; try again.',
    share: 'Too many bytes of request bodies of this caller are on their way; try again.',
  },
  answerBytes: {
    total: 'Too many answers wait to be taken; try again.',
    share: 'Too many answers wait for this caller to take them; take them, or try again.',
  },
};

type Holder = Amounts & {
  /** Requests that count for it; nobody remembers one without. */
  requests: number;
};

export function createQuotas(limits: Readonly<Amounts>): Quotas {
  const share = sharesOf(limits);
  const total = nothing();
  const named = new Map<string, Holder>();
  const connections = new WeakMap<object, Holder>();

  function nameHolder(name: string): Holder {
    let holder = named.get(name);
    if (!holder) {
      holder = { ...nothing(), requests: 0 };
      named.set(name, holder);
    }
    return holder;
  }

  function connectionHolder(connection: object): Holder {
    let holder = connections.get(connection);
    if (!holder) {
      holder = { ...nothing(), requests: 0 };
      connections.set(connection, holder);
    }
    return holder;
  }

  function open({ address, connection, hasBody }: QuotaOrigin): RequestQuota {
    const mine = nothing();
    const holders: Holder[] = [];
    const names: string[] = [];
    let phase: 'arriving' | 'inFlight' = hasBody ? 'arriving' : 'inFlight';
    let isWorking = false;
    let isAnswering = false;

    function join(holder: Holder, name: string | null): void {
      holder.requests += 1;
      for (const resource of RESOURCES) holder[resource] += mine[resource];
      holders.push(holder);
      if (name !== null) names.push(name);
    }

    function add(resource: Resource, amount: number): void {
      mine[resource] += amount;
      total[resource] += amount;
      for (const holder of holders) holder[resource] += amount;
    }

    function take(resource: Resource, amount: number): void {
      const own = mine[resource];
      if (!fits(total[resource], own, amount, limits[resource])) throw refusal(REFUSALS[resource].total);
      for (const holder of holders) {
        if (!fits(holder[resource], own, amount, share[resource])) throw refusal(REFUSALS[resource].share);
      }
      add(resource, amount);
    }

    /** Forgets whom the request counts for once it will hold nothing any more. */
    function leave(): void {
      if (isWorking || isAnswering) return;
      add('answerBytes', -mine.answerBytes);
      for (const holder of holders) holder.requests -= 1;
      holders.length = 0;
      for (const name of names) {
        if (named.get(name)?.requests === 0) named.delete(name);
      }
      names.length = 0;
    }

    return {
      begin() {
        if (connection !== null) join(connectionHolder(connection), null);
        if (address !== null) join(nameHolder(`address ${address}`), `address ${address}`);
        try {
          // Nobody sends a body in vain while there is no place to work on it.
          if (phase === 'arriving' && total.inFlight >= limits.inFlight) throw refusal(REFUSALS.inFlight.total);
          take(phase, 1);
          isWorking = true;
          isAnswering = true;
        } catch (error) {
          leave();
          throw error;
        }
      },
      identify(credential) {
        const name = `credential ${credential}`;
        const holder = nameHolder(name);
        if (holder[phase] > 0 && holder[phase] >= share[phase]) throw refusal(REFUSALS[phase].share);
        join(holder, name);
      },
      receive: (bytes) => take('bodyBytes', bytes),
      start() {
        if (phase === 'inFlight') return;
        add('arriving', -mine.arriving);
        phase = 'inFlight';
        take('inFlight', 1);
      },
      finish() {
        add('arriving', -mine.arriving);
        add('inFlight', -mine.inFlight);
        add('bodyBytes', -mine.bodyBytes);
        isWorking = false;
        leave();
      },
      build: (bytes) => take('answerBytes', bytes),
      setAnswer(bytes, force) {
        const more = bytes - mine.answerBytes;
        if (more > 0 && !force) take('answerBytes', more);
        else add('answerBytes', more);
      },
      release() {
        add('answerBytes', -mine.answerBytes);
        isAnswering = false;
        leave();
      },
    };
  }

  return { open, held: () => total };
}

/** `own` is the part of `held` that belongs to the request itself. */
function fits(held: number, own: number, amount: number, bound: number): boolean {
  return held === own || held + amount <= bound;
}

function sharesOf(limits: Readonly<Amounts>): Readonly<Amounts> {
  const shares = nothing();
  for (const resource of RESOURCES) shares[resource] = Math.max(1, Math.floor(limits[resource] / SHARES));
  return shares;
}

function nothing(): Amounts {
  return { arriving: 0, inFlight: 0, bodyBytes: 0, answerBytes: 0 };
}

function refusal(message: string) {
  return unavailableFault(message, RETRY_AFTER_SECONDS);
}
