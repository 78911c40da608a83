/** A request to a model that this server makes itself, through its gateway, and what comes of it. */

import type { RequestCost, RequestUsage } from '../events/request-content.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import type { GatewayFault } from './gateway-fault.ts';
import type { TriedPrompt } from './tried-prompt.ts';

export type ModelRequest = {
  readonly kind: 'chat' | 'messages';
  /** JSON, in the dialect of the kind. */
  readonly body: string;
  /** The key that the request is made with, for somebody who may use it. */
  readonly presented: PresentedKey;
  readonly tried: TriedPrompt;
};

export type ModelAnswer = {
  /** Of the answer of a provider. */
  readonly status: number;
  readonly bytes: Buffer;
  /** Null: a provider answered, maybe with an error of its own. */
  readonly fault: GatewayFault | null;
  /** Null: no provider was asked. `cost`: null where the price is unknown. */
  readonly account: { readonly usage: RequestUsage | null; readonly cost: RequestCost | null } | null;
  /** Null: the request left no trace. */
  readonly traceId: string | null;
  readonly provider: string | null;
  readonly model: string | null;
};

export type AskModel = (request: ModelRequest) => Promise<ModelAnswer>;
