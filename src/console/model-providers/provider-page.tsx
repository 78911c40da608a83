/** One model provider: its test, its settings, its switch and its deletion. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { getRouteApi } from '@tanstack/react-router';
import {
  type ModelProvider,
  ModelProviderService,
  type TestModelProviderResponse,
} from '../../../gen/spandrel/v1/model_providers_pb.js';
import { Badge, Button, CopyButton } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { type Fact, Facts } from '../design/facts.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount, formatDuration, NONE, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { useProjectName } from '../organization/scopes.ts';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { kindLabel, providerPaths, toProvider, toProviderDraft } from './provider-draft.ts';
import { ProviderForm } from './provider-form.tsx';
import { ProviderState } from './provider-state.tsx';

const route = getRouteApi('/-/model-providers/$providerId');

export default function ProviderPage() {
  const { providerId } = route.useParams();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const found = useQuery(ModelProviderService.method.getModelProvider, { id: providerId });
  return (
    <DetailPage
      back={<Back to="/-/model-providers" label="Model providers" />}
      found={found}
      item={found.data?.modelProvider}
      show={(provider) => ({
        title: nameControls(provider.name ?? ''),
        sub: (
          <>
            {kindLabel(provider.kind)} · changed <Instant at={provider.updatedAt} />
          </>
        ),
        actions: (
          <div className={page.row}>
            <ProviderState provider={provider} />
            <CopyButton text={provider.id}>Copy id</CopyButton>
            {may('gatewayProviders:manage') && <Switch provider={provider} />}
          </div>
        ),
        children: may('gatewayProviders:manage') ? (
          <>
            <Test id={provider.id} />
            <Change key={provider.id} provider={provider} />
            <div>
              <DeleteForGood
                label="Delete the provider"
                name={provider.name ?? provider.id}
                method={ModelProviderService.method.deleteModelProvider}
                input={{ id: provider.id }}
                onDone={() => navigate({ to: '/-/model-providers' })}
              >
                Its API key is deleted, and no request is sent to it any more. Virtual keys that name it use the others
                that they name. This cannot be undone; disabling it can.
              </DeleteForGood>
            </div>
          </>
        ) : (
          <About provider={provider} />
        ),
      })}
    />
  );
}

type Stored = { readonly provider: ModelProvider };

function Switch({ provider: { id, enabled } }: Stored) {
  const update = useChange(ModelProviderService.method.updateModelProvider);
  return (
    <>
      <Button
        disabled={update.isPending}
        onClick={() =>
          update.mutate({ id, modelProvider: { enabled: enabled !== true }, updateMask: { paths: ['enabled'] } })
        }
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      {update.isError && <FailureNotice error={update.error} />}
    </>
  );
}

function Test({ id }: { readonly id: string }) {
  const test = useMutation(ModelProviderService.method.testModelProvider);
  return (
    <div className={`${page.card} ${page.padded} ${page.narrow}`}>
      <div className={page.row}>
        <Button disabled={test.isPending} onClick={() => test.mutate({ id })}>
          {test.isPending ? 'Testing…' : 'Test'}
        </Button>
        <span className={page.soft}>Lists the provider’s models with the stored settings.</span>
      </div>
      <div role="status">{test.data && <Outcome outcome={test.data} />}</div>
      {test.isError && <FailureNotice error={test.error} />}
    </div>
  );
}

function Outcome({
  outcome: { ok, error, httpStatus, latencyMs, models },
}: {
  readonly outcome: TestModelProviderResponse;
}) {
  return (
    <>
      <p>
        <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'It works' : 'It failed'}</Badge> {nameControls(error ?? '')}{' '}
        <span className={page.soft}>
          {httpStatus !== undefined && `HTTP ${httpStatus}, `}
          {formatDuration(latencyMs)}
        </span>
      </p>
      {ok && models.length === 0 && <p>It lists no model.</p>}
      {models.length > 0 && (
        <details open={models.length <= OPEN_MAX}>
          <summary>{models.length === 1 ? 'One model' : `${formatCount(models.length)} models`}</summary>
          <p className={page.mono}>{nameControls(models.join(', '))}</p>
        </details>
      )}
    </>
  );
}

/** Longer lists of models are folded. */
const OPEN_MAX = 30;

function Change({ provider }: Stored) {
  const update = useChange(ModelProviderService.method.updateModelProvider);
  return (
    <ProviderForm
      start={toProviderDraft(provider)}
      stored={{ keyHint: provider.keyHint }}
      action="Save"
      call={update}
      outcome={update.isSuccess && 'Saved. It applies to new requests.'}
      onSubmit={(draft, onDone) => {
        const { kind: _, ...modelProvider } = toProvider(draft);
        update.mutate(
          { id: provider.id, modelProvider, updateMask: { paths: providerPaths(draft) } },
          { onSuccess: onDone },
        );
      }}
    />
  );
}

/** For those who may only view it. */
function About({ provider }: Stored) {
  const nameOf = useProjectName();
  const facts: readonly Fact[] = [
    ['Base URL', nameControls(provider.baseUrl ?? '')],
    ['API key', provider.keyHint === undefined ? NONE : `…${provider.keyHint}`],
    ['Models', nameControls(provider.models?.names.join(', ') ?? 'all')],
    ['Projects', provider.projectIds?.ids.map(nameOf).join(', ') ?? 'all'],
    ['First byte within', formatDuration(provider.timeoutMs)],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
    </div>
  );
}
