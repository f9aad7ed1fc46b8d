import { useState } from 'react'
import { Segmented } from '../../components/fields/Segmented.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { pythonReceiver, typescriptReceiver } from './receivers.ts'
import { webhookStrings as strings } from './strings.ts'

const languages = [
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
] as const
type ReceiverLanguage = (typeof languages)[number]['value']

const programs: Readonly<Record<ReceiverLanguage, string>> = { typescript: typescriptReceiver, python: pythonReceiver }

/** A receiver to copy, in two languages. */
export function ReceiverExample() {
  const [language, setLanguage] = useState<ReceiverLanguage>('typescript')
  return (
    <div className="flex w-full min-w-0 flex-col gap-3">
      <div>
        <Segmented label={strings.language} value={language} onValue={setLanguage} options={languages} />
      </div>
      <CodeBlock label={strings.receiver[language]} code={programs[language]} />
    </div>
  )
}
