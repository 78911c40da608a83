/** Creates a model provider, and leads to its page, where it can be tested. */

import { useNavigate } from '@tanstack/react-router';
import { ModelProviderKind, ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { Back, Page } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { type ProviderDraft, toProvider } from './provider-draft.ts';
import { ProviderForm } from './provider-form.tsx';

const EMPTY: ProviderDraft = {
  name: '',
  kind: ModelProviderKind.OPENAI,
  baseUrl: '',
  apiKey: '',
  forgetsKey: false,
  apiVersion: '',
  models: '',
  aliases: '',
  headers: '',
  timeoutMs: '120000',
  projectIds: [],
  streamUsage: true,
};

export default function NewProviderPage() {
  const navigate = useNavigate();
  const create = useChange(ModelProviderService.method.createModelProvider, async ({ modelProvider }) => {
    if (!modelProvider) return;
    await navigate({ to: '/-/model-providers/$providerId', params: { providerId: modelProvider.id } });
  });
  return (
    <Page
      back={<Back to="/-/model-providers" label="Model providers" />}
      title="New model provider"
      sub="A language model service, and your API key for it."
    >
      <ProviderForm
        start={EMPTY}
        stored={null}
        action="Create the provider"
        call={create}
        onSubmit={(draft) => create.mutate(toProvider(draft))}
      />
    </Page>
  );
}
