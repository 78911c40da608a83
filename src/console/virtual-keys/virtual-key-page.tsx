/** One virtual key: its use, its budgets, how to connect, and its settings. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type VirtualKey, VirtualKeyService, VirtualKeyStatus } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { BudgetList } from '../budgets/budget-list.tsx';
import { Button, buttonClass, CopyButton } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { type Fact, Facts } from '../design/facts.tsx';
import { readFailure } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useMembers, useProjectName } from '../organization/scopes.ts';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { writeRange } from '../traces/range.ts';
import { Connect } from './connect.tsx';
import { KeyActions } from './key-actions.tsx';
import { toKeyChange, toKeyDraft } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { KeyState } from './key-state.tsx';
import { KeyUse } from './key-use.tsx';

const route = getRouteApi('/-/virtual-keys/$keyId');

const TABS = [
  ['use', 'Requests'],
  ['budgets', 'Budgets'],
  ['connect', 'Connect'],
  ['settings', 'Settings'],
] as const;

export default function VirtualKeyPage() {
  const { keyId } = route.useParams();
  const found = useQuery(VirtualKeyService.method.getVirtualKey, { id: keyId });
  return (
    <DetailPage
      back={<Back to="/-/virtual-keys" label="Virtual keys" />}
      found={found}
      item={found.data?.virtualKey}
      show={(key) => ({
        title: nameControls(key.name ?? ''),
        sub: key.description && nameControls(key.description),
        actions: (
          <div className={page.row}>
            <KeyState virtualKey={key} />
            <CopyButton text={key.id}>Copy id</CopyButton>
            <KeyActions virtualKey={key} />
          </div>
        ),
        children: (
          <>
            <About virtualKey={key} />
            <Parts virtualKey={key} onReload={found.refetch} />
          </>
        ),
      })}
    />
  );
}

type KeyProps = { readonly virtualKey: VirtualKey };

function About({ virtualKey: key }: KeyProps) {
  const nameOf = useProjectName();
  const members = useMembers();
  const member = members.find(({ userId }) => userId === key.principalUserId);
  const facts: readonly Fact[] = [
    ['Secret', <span key="secret" className={page.mono}>{`${key.displayPrefix}…`}</span>],
    [
      'Secret before ends',
      key.previousSecretUntil !== undefined && <Instant key="before" at={key.previousSecretUntil} />,
    ],
    ['Project', nameOf(key.traceProjectId)],
    ['Last used', <Instant key="used" at={key.lastUsedAt} />],
    ['Expires', key.expiresAt ? <Instant key="expires" at={key.expiresAt} /> : 'never'],
    ['Revoked', key.revokedAt !== undefined && <Instant key="revoked" at={key.revokedAt} />],
    ['Member', key.principalUserId !== undefined && nameControls(member?.name || member?.email || key.principalUserId)],
    ['Labels', key.labels.length > 0 && nameControls(key.labels.join(', '))],
    ['Models', nameControls(key.config?.modelsAllowed?.names.join(', ') ?? 'all')],
    ['Created', <Instant key="created" at={key.createdAt} />],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
    </div>
  );
}

type PartsProps = KeyProps & { readonly onReload: () => Promise<unknown> };

function Parts({ virtualKey: key, onReload }: PartsProps) {
  const { tab, ...search } = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const maySave = may('virtualKeys:update') && key.status !== VirtualKeyStatus.REVOKED;
  const tabs = TABS.filter(
    ([name]) => (name !== 'budgets' || may('gatewayBudgets:view')) && (name !== 'settings' || maySave),
  );
  const shown = tabs.find(([name]) => name === tab)?.[0] ?? 'use';
  return (
    <>
      <Tabs
        label="Parts of the key"
        tabs={tabs}
        shown={shown}
        onShow={(name) => void navigate({ search: name === 'use' ? {} : { tab: name } })}
      />
      {shown === 'use' && (
        <KeyUse
          virtualKey={key}
          search={search}
          onChange={(part) => void navigate({ search: writeRange({ ...search, ...part }), replace: true })}
        />
      )}
      {shown === 'budgets' && <Budgets id={key.id} />}
      {shown === 'connect' && <Connect models={key.config?.modelsAllowed?.names ?? []} />}
      {shown === 'settings' && <Settings key={key.id} virtualKey={key} onReload={onReload} />}
    </>
  );
}

/** Also budgets of each of its end users. */
function Budgets({ id }: { readonly id: string }) {
  const { may } = useSession();
  return (
    <>
      {may('gatewayBudgets:manage') && (
        <div>
          <Link to="/-/budgets/new" search={{ scope: 'virtual-key', of: id }} className={buttonClass('primary')}>
            New budget of this key
          </Link>
        </div>
      )}
      <BudgetList
        input={{ scopeId: id }}
        empty="A budget limits what is spent with this key in a period, or by each user of the application."
      />
    </>
  );
}

/** The form, which begins again with what is stored once that is read again. */
function Settings({ virtualKey, onReload }: PartsProps) {
  const [reads, setReads] = useState(0);
  const reload = async () => {
    await onReload();
    setReads((count) => count + 1);
  };
  return <Change key={reads} virtualKey={virtualKey} onReload={reload} />;
}

function Change({ virtualKey: key, onReload }: PartsProps) {
  const [stored, setStored] = useState(() => toKeyDraft(key));
  // That of the state that the form began with; somebody else may have changed the key since.
  const [revision, setRevision] = useState(key.revision);
  const update = useChange(VirtualKeyService.method.updateVirtualKey, ({ virtualKey }) =>
    setRevision(virtualKey?.revision ?? revision),
  );
  const isStale = update.isError && readFailure(update.error).code === 'revision_mismatch';
  return (
    <KeyForm
      start={stored}
      isNew={false}
      action="Save"
      call={isStale ? { isPending: false, error: null } : update}
      outcome={update.isSuccess && 'Saved. It applies to new requests.'}
      notice={isStale && <Stale onReload={onReload} />}
      onSubmit={(draft) =>
        update.mutate(
          { id: key.id, ...toKeyChange(draft, stored), expectedRevision: revision },
          { onSuccess: () => setStored(draft) },
        )
      }
    />
  );
}

function Stale({ onReload }: Pick<PartsProps, 'onReload'>) {
  return (
    <div className={controls.notice} role="alert">
      <span className={controls.noticeTitle}>The key has changed since this form was opened</span>
      <span>
        Nothing was saved, so the other change is not lost. Load the current version and make your change again.
      </span>
      <span>
        <Button small onClick={() => void onReload()}>
          Load what is stored
        </Button>
      </span>
    </div>
  );
}
