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
  /** For whom the request is made; null: for nobody in particular. */
  readonly endUserId: string | null;
};

/** What a request came to. */
export type Account = {
  readonly usage: RequestUsage | null;
  /** Null: the price is unknown. */
  readonly cost: RequestCost | null;
  /** Null: its span could not be made. */
  readonly traceId: string | null;
  /** The last provider that was asked, and the model by its name for it; null: none was tried. */
  readonly target: { readonly provider: string; readonly model: string } | null;
};

export type ModelAnswer = {
  /** Of the answer of a provider. */
  readonly status: number;
  readonly bytes: Buffer;
  /** Null: a provider answered, maybe with an error of its own. */
  readonly fault: GatewayFault | null;
  /** Null: the gateway refused it. */
  readonly account: Account | null;
};

export type AskModel = (request: ModelRequest) => Promise<ModelAnswer>;
