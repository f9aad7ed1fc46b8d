import type { components } from '../../api/v1.ts'

export type Template = components['schemas']['Template']

/** A variable as it is edited: default and value are text, or JSON. */
export interface VariableForm {
  readonly key: number
  readonly name: string
  readonly required: boolean
  /** Empty: there is none. */
  readonly fallback: string
  /** For the preview and a test. */
  readonly value: string
}

/** A template as it is edited; empty text: it has no such part. */
export interface TemplateForm {
  readonly name: string
  readonly subject: string
  readonly html: string
  readonly text: string
  readonly variables: readonly VariableForm[]
}

let lastKey = 0

export function newVariable(variable: Partial<Omit<VariableForm, 'key'>> = {}): VariableForm {
  lastKey += 1
  return { key: lastKey, name: '', required: false, fallback: '', value: '', ...variable }
}

export function formOf({ name, subject, html, text, variables }: Template): TemplateForm {
  return {
    name,
    subject: subject ?? '',
    html: html ?? '',
    text: text ?? '',
    variables: variables.map(({ name, required, default: fallback }) =>
      newVariable({ name, required, fallback: fallback == null ? '' : writeValue(fallback) }),
    ),
  }
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The form as the API wants it; null removes a part. */
export function changeOf({ name, subject, html, text, variables }: TemplateForm) {
  return {
    name,
    subject: subject === '' ? null : subject,
    html: html === '' ? null : html,
    text: text === '' ? null : text,
    variables: variables
      .filter(variable => variable.name !== '')
      .map(({ name, required, fallback }) => ({
        name,
        required,
        ...(fallback !== '' && { default: readValue(fallback) }),
      })),
  }
}

/** Has the form changed from what is stored? Preview values do not count. */
export function isChanged(form: TemplateForm, stored: Template): boolean {
  return JSON.stringify(changeOf(form)) !== JSON.stringify(changeOf(formOf(stored)))
}

/** The values that are entered for the preview. */
export function previewValues({ variables }: TemplateForm): Readonly<Record<string, unknown>> {
  const given = variables.filter(({ name, value }) => name !== '' && value !== '')
  return Object.fromEntries(given.map(({ name, value }) => [name, readValue(value)]))
}

/** JSON where it is JSON, such as a list; else the text itself. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
