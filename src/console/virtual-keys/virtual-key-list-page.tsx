import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type VirtualKey, VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { buttonClass } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import { inPages, ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { PAGING } from '../design/page.tsx';
import { InstantCell } from '../design/table.tsx';
import { useProjectName } from '../organization/scopes.ts';
import { useSession } from '../session/session.tsx';
import { KeyState } from './key-state.tsx';

const PAGE_SIZE = 100;

export default function VirtualKeyListPage() {
  const { may } = useSession();
  const nameOf = useProjectName();
  const found = useInfiniteQuery(
    VirtualKeyService.method.listVirtualKeys,
    { pageSize: PAGE_SIZE, pageToken: '' },
    PAGING,
  );
  const row = (key: VirtualKey) => (
    <tr key={key.id}>
      <td>
        <Link to="/-/virtual-keys/$keyId" params={{ keyId: key.id }}>
          {nameControls(key.name ?? '')}
        </Link>
      </td>
      <td>
        <KeyState virtualKey={key} />
      </td>
      <td className={page.mono}>{key.displayPrefix}…</td>
      <td>{nameOf(key.traceProjectId)}</td>
      <InstantCell at={key.lastUsedAt} />
      <InstantCell at={key.expiresAt} />
      <InstantCell at={key.createdAt} />
    </tr>
  );
  return (
    <ListPage
      title="Virtual keys"
      sub="What applications call the gateway with, each with rules of its own."
      actions={
        may('virtualKeys:create') && (
          <Link to="/-/virtual-keys/new" className={buttonClass('primary')}>
            New virtual key
          </Link>
        )
      }
      found={found}
      items={inPages}
      empty={{
        title: 'No virtual key yet',
        text: 'Create one per application. It can use the models and providers you choose, within limits and budgets, and never sees the providers’ own keys.',
      }}
      columns={['Name', 'State', 'Secret', 'Project', 'Last used', 'Expires', 'Created']}
      row={row}
    />
  );
}
