import { useInfiniteQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Prompt, PromptScope, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Badge, buttonClass, Snippet } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, PAGING, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useProject, useSession } from '../session/session.tsx';
import { TagBadges } from './tags.tsx';

const route = getRouteApi('/$slug/prompts');
const PAGE_SIZE = 100;

const FIRST = `export LANGWATCH_ENDPOINT="${location.origin}" LANGWATCH_API_KEY="$SPANDREL_PROJECT_KEY"
npx langwatch prompt init
npx langwatch prompt create support/greeting
npx langwatch prompt sync`;

export default function PromptListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useInfiniteQuery(PromptService.method.listPrompts, { pageSize: PAGE_SIZE, pageToken: '' }, PAGING);
  const prompts = found.data?.pages.flatMap((each) => each.prompts) ?? [];
  return (
    <Page
      title="Prompts"
      sub="Texts for models, in versions that never change. Applications read them by their handle, as a tag names them."
      actions={
        may('prompts:create') && (
          <Link to="/$slug/prompts/new" params={{ slug }} className={buttonClass('primary')}>
            New prompt
          </Link>
        )
      }
    >
      <Pending found={found} />
      {found.data && prompts.length === 0 && (
        <div className={`${page.card} ${page.padded}`}>
          <h2>No prompt yet</h2>
          <p>
            Write one here, or bring those of a repository with the command line of LangWatch: it keeps local files and
            this project in step.
          </p>
          <Snippet title="From local files" code={FIRST} />
        </div>
      )}
      {prompts.length > 0 && (
        <Table columns={['Handle', 'Scope', { number: 'Version' }, 'Tags', 'Model', 'Updated']}>
          {prompts.map((prompt) => (
            <Row key={prompt.id} slug={slug} prompt={prompt} />
          ))}
        </Table>
      )}
      <More found={found} />
    </Page>
  );
}

function Row({ slug, prompt }: { readonly slug: string; readonly prompt: Prompt }) {
  const project = useProject();
  const isShared = prompt.scope === PromptScope.ORGANIZATION;
  return (
    <tr>
      <td>
        <Link to="/$slug/prompts/$promptId" params={{ slug, promptId: prompt.id }}>
          {nameControls(prompt.handle)}
        </Link>
      </td>
      <td>
        {isShared ? <Badge tone="accent">organization</Badge> : <Badge>project</Badge>}
        {isShared && prompt.projectId !== project.id && <span className={page.soft}> of another project</span>}
      </td>
      <td className={page.number}>{prompt.version}</td>
      <td>
        <TagBadges prompt={prompt} />
      </td>
      <td className={page.mono}>{nameControls(prompt.model)}</td>
      <InstantCell at={prompt.updatedAt} />
    </tr>
  );
}
