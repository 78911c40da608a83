/**
 * Circuit breakers of model providers, in the memory of one process. Many failures in a short time open a breaker: the provider
 * is not tried for a while, then by one request, and by all others once that succeeded.
 */

type BreakerDeps = {
  /** A clock that is never set. */
  readonly nowMs: () => number;
  readonly providersMax?: number;
};

const FAILURES_MAX = 10;
const WINDOW_MS = 30_000;
const OPEN_MS = 60_000;
/** A probe whose end nobody tells, because its caller left, makes room for another one. */
const PROBE_MS = 60_000;
/** Providers without a failure need no memory. */
const PROVIDERS_MAX = 10_000;

type Breaker =
  /** The instants of recent failures, ascending. */
  | { readonly state: 'closed'; readonly failedAtMs: readonly number[] }
  /** Until `nextProbeAtMs` no request is tried. */
  | { readonly state: 'open'; readonly nextProbeAtMs: number; readonly isProbed: boolean };

export type Breakers = ReturnType<typeof createBreakers>;

export function createBreakers({ nowMs, providersMax = PROVIDERS_MAX }: BreakerDeps) {
  const breakers = new Map<string, Breaker>();

  function change(providerId: string, breaker: Breaker): void {
    breakers.delete(providerId);
    breakers.set(providerId, breaker);
    const [oldest] = breakers.keys();
    if (breakers.size > providersMax && oldest !== undefined) breakers.delete(oldest);
  }

  function open(providerId: string): void {
    change(providerId, { state: 'open', nextProbeAtMs: nowMs() + OPEN_MS, isProbed: false });
  }

  return {
    /** Asked right before a request is sent, whose end `noteSuccess` or `noteFailure` tells: it may be the probe. */
    mayTry(providerId: string): boolean {
      const breaker = breakers.get(providerId);
      if (breaker?.state !== 'open') return true;
      if (nowMs() < breaker.nextProbeAtMs) return false;
      change(providerId, { state: 'open', nextProbeAtMs: nowMs() + PROBE_MS, isProbed: true });
      return true;
    },
    /** How long the provider is not tried. */
    waitMsOf(providerId: string): number {
      const breaker = breakers.get(providerId);
      return breaker?.state === 'open' ? Math.max(0, breaker.nextProbeAtMs - nowMs()) : 0;
    },
    /** The caller left before the provider had answered: it must not have used up the probe. */
    noteCancelled(providerId: string): void {
      const breaker = breakers.get(providerId);
      if (breaker?.state === 'open' && breaker.isProbed) {
        change(providerId, { state: 'open', nextProbeAtMs: nowMs(), isProbed: false });
      }
    },
    /** The provider answered, be it 429 or another 4xx. Requests from before a breaker opened do not close it. */
    noteSuccess(providerId: string): void {
      const breaker = breakers.get(providerId);
      if (breaker?.state === 'open' && breaker.isProbed) breakers.delete(providerId);
    },
    /** The provider did not answer, or with 5xx. */
    noteFailure(providerId: string): void {
      const breaker = breakers.get(providerId) ?? { state: 'closed', failedAtMs: [] };
      if (breaker.state === 'open') {
        if (breaker.isProbed) open(providerId);
        return;
      }
      const atMs = nowMs();
      const recent = breaker.failedAtMs.filter((failedAtMs) => failedAtMs > atMs - WINDOW_MS);
      if (recent.length + 1 >= FAILURES_MAX) open(providerId);
      else change(providerId, { state: 'closed', failedAtMs: [...recent, atMs] });
    },
  };
}
