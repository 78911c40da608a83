import type { ModelProvider } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { Badge } from '../design/button.tsx';

export function ProviderState({ provider: { enabled } }: { readonly provider: Pick<ModelProvider, 'enabled'> }) {
  return <Badge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'enabled' : 'disabled'}</Badge>;
}
