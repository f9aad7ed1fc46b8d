import { Plus, Trash2 } from 'lucide-react'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Checkbox } from '../../../components/fields/Checkbox.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { templateStrings as strings } from '../strings.ts'
import { newVariable, type VariableForm } from '../template-form.ts'

interface VariablesEditorProps {
  readonly variables: readonly VariableForm[]
  readonly onVariables: (variables: readonly VariableForm[]) => void
  /** Without the right to write, only the preview's values can be changed. */
  readonly mayWrite: boolean
}

/** The variables of a template, each with its default and a value for the preview. */
export function VariablesEditor({ variables, onVariables, mayWrite }: VariablesEditorProps) {
  const change = (key: number, part: Partial<VariableForm>) =>
    onVariables(variables.map(variable => (variable.key === key ? { ...variable, ...part } : variable)))
  return (
    <Section
      title={strings.variables}
      hint={strings.variablesHint}
      actions={
        mayWrite && (
          <Button size="small" icon={<Plus />} onClick={() => onVariables([...variables, newVariable()])}>
            {strings.addVariable}
          </Button>
        )
      }
    >
      <ul className="flex flex-col gap-2">
        {variables.map(({ key, name, required, fallback, value }) => (
          <li
            key={key}
            className="grid grid-cols-1 items-end gap-2 rounded-lg border border-line bg-surface p-3 sm:grid-cols-[1fr_1fr_1fr_auto_auto]"
          >
            <TextInput
              label={strings.variableName}
              isCode
              value={name}
              disabled={!mayWrite}
              onValue={next => change(key, { name: next })}
            />
            <TextInput
              label={strings.variableDefault}
              isCode
              isOptional
              value={fallback}
              disabled={!mayWrite}
              onValue={next => change(key, { fallback: next })}
            />
            <TextInput
              label={strings.variableValue}
              isCode
              isOptional
              value={value}
              onValue={next => change(key, { value: next })}
            />
            <div className="flex h-8 items-center">
              <Checkbox
                label={strings.variableRequired}
                isChecked={required}
                isDisabled={!mayWrite}
                onChecked={next => change(key, { required: next })}
              />
            </div>
            {mayWrite && (
              <IconButton
                label={strings.removeVariable(name)}
                icon={<Trash2 />}
                onClick={() => onVariables(variables.filter(variable => variable.key !== key))}
              />
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
