import { useInfiniteQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type ApiKey, ApiKeyScope, ApiKeyService, KeyType } from '../../../gen/spandrel/v1/keys_pb.js';
import { Badge, buttonClass } from '../design/button.tsx';
import { ConfirmButton, SecretOnce } from '../design/confirm.tsx';
import { Check } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { roleLabel, useMembers, useScopes } from '../organization/scopes.ts';
import { useSession } from '../session/session.tsx';

const route = getRouteApi('/-/keys');
const PAGE_SIZE = 100;

export default function KeyListPage() {
  const { may } = useSession();
  const { all, revoked } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useInfiniteQuery(
    ApiKeyService.method.listApiKeys,
    {
      scope: all ? ApiKeyScope.ORGANIZATION : ApiKeyScope.OWN,
      includeRevoked: revoked === true,
      pageSize: PAGE_SIZE,
      pageToken: '',
    },
    PAGING,
  );
  const keys = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const choice = (name: 'all' | 'revoked', isOn: boolean | undefined, label: string) => (
    <Check
      checked={isOn === true}
      onChange={(isOn) =>
        void navigate({
          search: (now) => ({ ...now, [name]: isOn || undefined }) as typeof now,
          replace: true,
        })
      }
    >
      {label}
    </Check>
  );
  return (
    <Page
      title="API keys"
      sub="Credentials for applications and people."
      actions={
        <div className={page.row}>
          {choice('all', all, 'All owners')}
          {choice('revoked', revoked, 'Include revoked')}
          {may('organization:manage') && (
            <Link to="/-/keys/new" className={buttonClass('primary')}>
              New key
            </Link>
          )}
        </div>
      }
    >
      <Pending found={found} />
      {keys.length > 0 && <KeyTable keys={keys} />}
      <More found={found} />
    </Page>
  );
}

function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { may, account, renew } = useSession();
  const scopes = useScopes();
  const members = useMembers();
  const ownerOf = ({ assignedToUserId }: ApiKey) => {
    const owner = members.find(({ userId }) => userId === assignedToUserId);
    return nameControls(owner?.name || owner?.email || 'a member');
  };
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const endRotation = () => {
    setRotated(null);
    if (rotated?.isOwn) renew(rotated.token);
  };
  return (
    <>
      <Table columns={['Name', 'Id', 'Owner', 'May do', 'Last used', 'Expires', 'Actions']}>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              {nameControls(key.name ?? '')} {key.revokedAt && <Badge tone="bad">revoked</Badge>}
            </td>
            <td className={`${page.mono} ${page.nowrap}`}>{key.id}</td>
            <td>{key.keyType === KeyType.SERVICE ? 'a service' : ownerOf(key)}</td>
            <td>
              {key.bindings.map(({ role, scopeId = '' }) => (
                <div key={`${role} ${scopeId}`}>
                  {roleLabel(role)}, {scopes.find(({ id }) => id === scopeId)?.label ?? scopeId}
                </div>
              ))}
              {key.warnings && <p className={page.warned}>{nameControls(key.warnings.sentences.join(' '))}</p>}
              <details>
                <summary>
                  {formatCount(key.effectivePermissions.length)}{' '}
                  {key.effectivePermissions.length === 1 ? 'permission' : 'permissions'}
                </summary>
                <p className={page.mono}>{key.effectivePermissions.join(', ')}</p>
              </details>
            </td>
            <InstantCell at={key.lastUsedAt} />
            <InstantCell at={key.expiresAt} />
            <td>
              {!key.revokedAt && may('organization:manage') && (
                <KeyActions apiKey={key} isOwn={key.id === account.keyId} onRotated={setRotated} />
              )}
            </td>
          </tr>
        ))}
      </Table>
      <SecretOnce secret={rotated?.token ?? null} title="The new token" onClose={endRotation} />
    </>
  );
}

type Rotated = { readonly token: string; readonly isOwn: boolean };

/** Keeps the old token valid, so that the session survives until the new token is saved. */
const OVERLAP = { overlapSeconds: 3_600 };

type KeyActionsProps = {
  readonly apiKey: ApiKey;
  /** Whether the session has this key. */
  readonly isOwn: boolean;
  readonly onRotated: (rotated: Rotated) => void;
};

function KeyActions({ apiKey: { id, name = '' }, isOwn, onRotated }: KeyActionsProps) {
  return (
    <span className={page.buttons}>
      <ConfirmButton
        small
        label="Rotate"
        title={`Rotate ${nameControls(name)}`}
        action="Replace the token"
        typed="rotate"
        method={ApiKeyService.method.rotateApiKey}
        input={{ id, ...(isOwn && OVERLAP) }}
        onDone={({ token }) => onRotated({ token, isOwn })}
      >
        {isOwn
          ? 'You are signed in with this key. The current token stops working in an hour; the console continues with the new one.'
          : 'The current token stops working at once.'}
      </ConfirmButton>
      <ConfirmButton
        small
        variant="danger"
        label="Revoke"
        title={`Revoke ${nameControls(name)}`}
        action="Revoke permanently"
        typed="revoke"
        method={ApiKeyService.method.revokeApiKey}
        input={{ id }}
      >
        Requests with this key are refused at once. This cannot be undone.
      </ConfirmButton>
    </span>
  );
}
