import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type ModelProvider, ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { buttonClass } from '../design/button.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { inPages, ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { PAGING } from '../design/page.tsx';
import { InstantCell } from '../design/table.tsx';
import { useProjectName } from '../organization/scopes.ts';
import { useSession } from '../session/session.tsx';
import { kindLabel } from './provider-draft.ts';
import { ProviderState } from './provider-state.tsx';

const PAGE_SIZE = 100;

export default function ProviderListPage() {
  const { may } = useSession();
  const nameOf = useProjectName();
  const found = useInfiniteQuery(
    ModelProviderService.method.listModelProviders,
    { pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const row = (provider: ModelProvider) => (
    <tr key={provider.id}>
      <td>
        <Link to="/-/model-providers/$providerId" params={{ providerId: provider.id }}>
          {nameControls(provider.name ?? '')}
        </Link>
      </td>
      <td>{kindLabel(provider.kind)}</td>
      <td>
        <ProviderState provider={provider} />
      </td>
      <td className={page.mono}>{nameControls(provider.baseUrl ?? '')}</td>
      <td className={page.mono}>{provider.keyHint ? `…${provider.keyHint}` : NONE}</td>
      <td>{provider.projectIds?.ids.map(nameOf).join(', ') ?? 'all'}</td>
      <InstantCell at={provider.updatedAt} />
    </tr>
  );
  return (
    <ListPage
      title="Model providers"
      sub="The services of language models that the gateway sends requests to, with the keys for them."
      actions={
        may('gatewayProviders:manage') && (
          <Link to="/-/model-providers/new" className={buttonClass('primary')}>
            New provider
          </Link>
        )
      }
      found={found}
      items={inPages}
      empty={{
        title: 'No model provider yet',
        text: 'Add the service that your applications use, such as OpenAI or Anthropic, with your API key for it. Virtual keys then let applications use it without knowing that key.',
      }}
      columns={['Name', 'Kind', 'State', 'Base URL', 'API key', 'Projects', 'Changed']}
      row={row}
    />
  );
}
