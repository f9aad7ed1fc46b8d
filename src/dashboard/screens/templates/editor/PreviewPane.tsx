import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { SafeText, showControls } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { templateStrings as strings } from '../strings.ts'
import type { TemplateForm } from '../template-form.ts'
import { previewQuery } from '../template-queries.ts'
import { PreviewFrame } from './PreviewFrame.tsx'

const restMs = 350
const widths = { phone: 'max-w-[22.5rem]', tablet: 'max-w-[40rem]', desktop: 'max-w-full' }
type Width = keyof typeof widths

/** The template as an email while one writes it, at three widths; what a send would miss is named. */
export function PreviewPane({ form }: { readonly form: TemplateForm }) {
  const { api } = useOrganization()
  const [width, setWidth] = useState<Width>('desktop')
  const settled = useSettled(form)
  const { data: preview, error } = useQuery({ ...previewQuery(api, settled), placeholderData: keepPreviousData })
  const missing = preview?.missing_variables ?? []
  return (
    <Section
      title={strings.preview}
      actions={
        <Segmented
          label={strings.width}
          value={width}
          onValue={setWidth}
          options={(['phone', 'tablet', 'desktop'] as const).map(value => ({ value, label: strings.widths[value] }))}
        />
      }
    >
      {error && (
        <div className="mb-2">
          <Refusal error={error} />
        </div>
      )}
      {missing.length > 0 && (
        <div className="mb-2">
          <Notice tone="warn" title={strings.missing(missing.join(', '))}>
            {strings.missingHint}
          </Notice>
        </div>
      )}
      <div className="rounded-lg border border-line bg-sunken p-2 sm:p-3">
        <div className={`mx-auto overflow-hidden rounded-md border border-line bg-surface ${widths[width]}`}>
          <div className="truncate border-b border-line px-3 py-2 font-medium">
            <SafeText text={preview?.subject} none={strings.noSubject} />
          </div>
          {preview?.html ? (
            <PreviewFrame title={strings.previewOf} html={preview.html} className="h-[32rem]" />
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
            <pre className="h-64 overflow-auto p-3 font-sans whitespace-pre-wrap" tabIndex={0} dir="auto">
              {showControls(preview?.text ?? '')}
            </pre>
          )}
        </div>
      </div>
    </Section>
  )
}

/** The value once it has rested for a moment, so that not every key asks the server. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
