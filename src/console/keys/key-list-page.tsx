import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type ApiKey, ApiKeyScope, ApiKeyService, KeyType } from '../../../gen/spandrel/v1/keys_pb.js';
import { Badge, Button, buttonClass } from '../design/button.tsx';
import { Confirm, SecretOnce } from '../design/confirm.tsx';
import { Check } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const route = getRouteApi('/-/keys');
const PAGE_SIZE = 100;

export function KeyListPage() {
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
      sub="Credentials of applications and people."
      actions={
        <div className={page.row}>
          {choice('all', all, 'Of all owners')}
          {choice('revoked', revoked, 'Also revoked')}
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

/** Keeps the old token valid, so that the session survives until the new token is saved. */
const OVERLAP = { overlapSeconds: 3_600 };

function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { may, account, renew } = useSession();
  const [toRevoke, setToRevoke] = useState<ApiKey | null>(null);
  const [toRotate, setToRotate] = useState<ApiKey | null>(null);
  const refresh = useRefresh();
  const revoke = useMutation(ApiKeyService.method.revokeApiKey, {
    async onSuccess() {
      setToRevoke(null);
      await refresh();
    },
  });
  const rotate = useMutation(ApiKeyService.method.rotateApiKey, { onSuccess: () => setToRotate(null) });
  const isOwn = ({ id }: ApiKey) => id === account.keyId;
  const endRotation = () => {
    const { data } = rotate;
    rotate.reset();
    if (data?.apiKey && isOwn(data.apiKey)) renew(data.token);
  };
  return (
    <>
      <Table columns={['Name', 'Id', 'Whose', 'May do', 'Last used', 'Ends', 'Actions']}>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              {nameControls(key.name ?? '')} {key.revokedAt && <Badge tone="bad">revoked</Badge>}
            </td>
            <td className={`${page.mono} ${page.nowrap}`}>{key.id}</td>
            <td>{key.keyType === KeyType.SERVICE ? 'a service' : 'a member'}</td>
            <td>
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
                <span className={page.actions}>
                  <Button small onClick={() => setToRotate(key)}>
                    Rotate
                  </Button>
                  <Button small variant="danger" onClick={() => setToRevoke(key)}>
                    Revoke
                  </Button>
                </span>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <Confirm
        key={`revoke ${toRevoke?.id}`}
        open={toRevoke !== null}
        onClose={() => setToRevoke(null)}
        title={`Revoke ${nameControls(toRevoke?.name ?? '')}`}
        action="Revoke permanently"
        typed="revoke"
        pending={revoke.isPending}
        error={revoke.error}
        onConfirm={() => toRevoke && revoke.mutate({ id: toRevoke.id })}
      >
        Whoever uses it is refused from the next request on. This cannot be undone.
      </Confirm>
      <Confirm
        key={`rotate ${toRotate?.id}`}
        open={toRotate !== null}
        onClose={() => setToRotate(null)}
        title={`Rotate ${nameControls(toRotate?.name ?? '')}`}
        action="Replace the token"
        typed="rotate"
        pending={rotate.isPending}
        error={rotate.error}
        onConfirm={() => toRotate && rotate.mutate({ id: toRotate.id, ...(isOwn(toRotate) && OVERLAP) })}
      >
        {toRotate && isOwn(toRotate)
          ? 'You are signed in with this key. The token it has now is refused in an hour; this tab continues with the new one.'
          : 'The token it has now is refused from the next request on.'}
      </Confirm>
      <SecretOnce secret={rotate.data?.token ?? null} title="The new token" onClose={endRotation} />
    </>
  );
}
