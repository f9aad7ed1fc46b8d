import { useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Badge } from '../../../components/text/Status.tsx'
import { useConditionalSave } from '../../../hooks/conditional-save.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import { templateStrings as strings } from '../strings.ts'
import { changeOf, formOf, isChanged, previewValues, type Template, type TemplateForm } from '../template-form.ts'
import { templateQuery } from '../template-queries.ts'
import { PreviewPane } from './PreviewPane.tsx'
import { TemplateMenu } from './TemplateMenu.tsx'
import { VariablesEditor } from './VariablesEditor.tsx'

const CodeEditor = lazy(() => import('./CodeEditor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })))

type Part = 'html' | 'text'

/** A template with its source, its variables and its preview. */
export function TemplateEditor({ template, back }: { readonly template: Template; readonly back: ReactNode }) {
  const { api, may } = useOrganization()
  const queryClient = useQueryClient()
  const [form, setForm] = useState<TemplateForm>(() => formOf(template))
  const [part, setPart] = useState<Part>(template.html === null && template.text !== null ? 'text' : 'html')
  // How often the form was filled from the server: the editor then begins with another text.
  const [fills, setFills] = useState(0)
  const mayWrite = may('templates:write')
  const hasChanged = mayWrite && isChanged(form, template)
  const change = (next: Partial<TemplateForm>) => setForm(now => ({ ...now, ...next }))
  const params = { path: { slug: template.slug }, query: { brand_id: template.brand_id } }
  const store = (now: Template) =>
    queryClient.setQueryData(templateQuery(api, template.brand_id, template.slug).queryKey, now)
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<Template>({
    stored: template,
    read: () => answer(api.v1.GET('/v1/templates/{slug}', { params })),
    async save(if_updated_at) {
      const body = { ...changeOf(form), if_updated_at }
      const saved = await answer(api.v1.PATCH('/v1/templates/{slug}', { params, body }))
      store(saved)
      await queryClient.invalidateQueries({ queryKey: ['templates', 'list'] })
      showToast(strings.saved)
      return saved
    },
    show(theirs) {
      store(theirs)
      setForm(formOf(theirs))
      setFills(fills + 1)
    },
  })
  useShortcuts(strings.title, [
    { key: 'mod+s', label: strings.save, run: () => void (hasChanged && !isBusy && save()) },
  ])
  return (
    <>
      <PageHeader
        title={strings.title}
        heading={
          <span className="inline-flex flex-wrap items-center gap-3">
            <SafeText text={form.name || template.name} />
            {hasChanged && <Badge tone="warn">{strings.unsaved}</Badge>}
          </span>
        }
        back={back}
        actions={
          <>
            {mayWrite && (
              <Button kind="primary" isBusy={isBusy} disabled={!hasChanged} onClick={() => void save()}>
                {strings.save}
              </Button>
            )}
            <TemplateMenu template={template} values={previewValues(form)} />
          </>
        }
      >
        <code className="font-mono text-sm">{template.slug}</code>
      </PageHeader>
      {(isConflict || error !== null) && (
        <div className="mb-4">
          {isConflict ? <ConflictNotice onKeep={keepMine} onTake={takeTheirs} /> : <Refusal error={error} />}
        </div>
      )}
      <div className="grid gap-x-6 xl:grid-cols-2">
        <div className="min-w-0">
          <div className="mb-4 grid gap-3 sm:grid-cols-2">
            <TextInput
              label={strings.name}
              value={form.name}
              maxLength={120}
              disabled={!mayWrite}
              onValue={name => change({ name })}
            />
            <TextInput
              label={strings.subject}
              value={form.subject}
              maxLength={998}
              disabled={!mayWrite}
              onValue={subject => change({ subject })}
            />
          </div>
          <div className="mb-2">
            <Segmented
              label={strings.part}
              value={part}
              onValue={setPart}
              options={[
                { value: 'html', label: strings.html },
                { value: 'text', label: strings.text },
              ]}
            />
          </div>
          <div className="mb-8 overflow-hidden rounded-lg border border-line bg-surface">
            <Suspense fallback={<Skeleton className="h-96 w-full" />}>
              <CodeEditor
                key={`${part}${fills}`}
                label={strings.editor(strings[part])}
                language={part}
                initialText={form[part]}
                onText={text => change({ [part]: text })}
              />
            </Suspense>
          </div>
          <VariablesEditor
            variables={form.variables}
            mayWrite={mayWrite}
            onVariables={variables => change({ variables })}
          />
        </div>
        <div className="min-w-0">
          <PreviewPane form={form} />
        </div>
      </div>
    </>
  )
}
