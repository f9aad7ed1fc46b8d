import { Link } from '@tanstack/react-router'
import { LayoutTemplate, Plus } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { KeyboardList } from '../../components/lists/KeyboardList.tsx'
import { PagedRows } from '../../components/lists/PagedRows.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { CreateTemplateDialog } from './CreateTemplateDialog.tsx'
import { starters, templateStrings as strings } from './strings.ts'

/** `/app/<organization>/templates`. */
export function TemplatesScreen() {
  const { api, organization, may } = useOrganization()
  const [starter, setStarter] = useState<string | null>(null)
  const pages = usePages(['templates', 'list', api.organizationId, api.brandId], cursor =>
    answer(api.v1.GET('/v1/templates', { params: { query: cursor === undefined ? {} : { cursor } } })),
  )
  const mayWrite = may('templates:write')
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          mayWrite && (
            <Button kind="primary" icon={<Plus />} onClick={() => setStarter('blank')}>
              {strings.create}
            </Button>
          )
        }
      >
        {strings.hint}
      </PageHeader>
      <PagedRows
        pages={pages}
        empty={
          <EmptyState
            icon={<LayoutTemplate />}
            title={strings.empty}
            action={
              mayWrite &&
              starters.map(({ key, name, hint }) => (
                <button
                  key={key}
                  type="button"
                  onClick={() => setStarter(key)}
                  className="min-w-56 flex-1 rounded-lg border border-line bg-surface px-4 py-3 text-left hover:bg-hover"
                >
                  <span className="block font-medium">{name}</span>
                  <span className="block text-sm text-muted">{hint}</span>
                </button>
              ))
            }
          >
            {strings.emptyHint}
          </EmptyState>
        }
      >
        {rows => (
          <KeyboardList label={strings.title} rows={rows} rowKey={({ id }) => id}>
            {template => (
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2.5 text-sm">
                <Link
                  to="/$organization/templates/$slug"
                  params={{ organization: organization.id, slug: template.slug }}
                  search={{ brand: template.brand_id }}
                  data-open=""
                  className="min-w-0 truncate font-medium after:absolute after:inset-0"
                >
                  <SafeText text={template.name} />
                </Link>
                <code className="font-mono text-xs text-faint">{template.slug}</code>
                <span className="min-w-0 flex-1 basis-40 truncate text-muted">
                  <SafeText text={template.subject} none={strings.noSubject} />
                </span>
                {organization.brands.length > 1 && (
                  <Tag>
                    <SafeText text={organization.brands.find(({ id }) => id === template.brand_id)?.name} />
                  </Tag>
                )}
                <span className="text-faint">
                  <Time at={template.updated_at} />
                </span>
              </div>
            )}
          </KeyboardList>
        )}
      </PagedRows>
      <CreateTemplateDialog starter={starter} onClose={() => setStarter(null)} />
    </>
  )
}
