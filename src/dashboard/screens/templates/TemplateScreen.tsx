import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { keepBrand } from '../../shell/navigation/useGoShortcuts.ts'
import { TemplateEditor } from './editor/TemplateEditor.tsx'
import { templateStrings as strings } from './strings.ts'
import { templateQuery } from './template-queries.ts'

/** `/app/<organization>/templates/<slug>`. */
export function TemplateScreen() {
  const { api, organization, brand } = useOrganization()
  const { slug } = useParams({ from: '/$organization/templates/$slug' })
  const { data: template, error } = useQuery(templateQuery(api, brand?.id ?? organization.brands[0]?.id ?? '', slug))
  const back = (
    <TextLink to="/$organization/templates" params={{ organization: organization.id }} search={keepBrand}>
      ← {strings.back}
    </TextLink>
  )
  if (template) return <TemplateEditor key={template.id} template={template} back={back} />
  return (
    <>
      <PageHeader title={strings.title} back={back} />
      {error ? <Refusal error={error} /> : <SkeletonRows rows={5} />}
    </>
  )
}
