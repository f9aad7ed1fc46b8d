import { fromJson, toJson } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import { invalidParameter } from '../accept/invalid-parameter.ts'
import type { TemplatePart, TemplateSources } from './engine.ts'
import type { TemplateRenderer } from './renderer.ts'
import type { NewTemplate } from './schema.ts'
import type { TemplateRow } from './table.ts'

const maxSourceBytes = 512 * 1024
const maxVariablesBytes = 64 * 1024

/** The sources of a template as they are stored. @throws Refusal `invalid_request` past 512 KiB */
export function readSources({
  subject,
  text,
  html,
}: { readonly [part in keyof TemplateSources]?: string | null }): TemplateSources {
  return { subject: subject ?? null, text: readSource(text, 'text'), html: readSource(html, 'html') }
}

function readSource(source: string | null | undefined, param: string): string | null {
  if (source === null || source === undefined) return null
  if (Buffer.byteLength(source) > maxSourceBytes)
    throw invalidParameter(param, `it has more than ${maxSourceBytes} bytes`)
  return source.toWellFormed()
}

/** The variables that a template declares. @throws Refusal `invalid_request` for a name given twice, and past 64 KiB */
export function readDeclaredVariables(variables: NewTemplate['variables'] = []): TemplateRow['variables'] {
  const names = new Set<string>()
  for (const [i, { name }] of variables.entries()) {
    if (names.has(name)) throw invalidParameter(`variables[${i}].name`, `${name} is declared twice`)
    names.add(name)
  }
  const declared = toJson(
    variables.map(({ name, required = false, default: value = null }) => ({ name, required, default: value })),
  )
  refuseExcess(declared)
  return declared
}

function refuseExcess(json: string): void {
  if (Buffer.byteLength(json) > maxVariablesBytes)
    throw invalidParameter('variables', `as JSON they have more than ${maxVariablesBytes} bytes`)
}

/** Values by name. */
export type TemplateVariables = Readonly<Record<string, unknown>>

/** The values that a request gives. @throws Refusal `invalid_request` past 64 KiB */
export function readVariables(variables: TemplateVariables = {}): TemplateVariables {
  refuseExcess(JSON.stringify(variables))
  return variables
}

/** The given values completed with defaults, and the required variables that have neither. */
export function withDefaults(
  template: Pick<TemplateRow, 'variables'>,
  given: TemplateVariables,
): { readonly values: TemplateVariables; readonly missing: readonly string[] } {
  const values: Record<string, unknown> = { ...given }
  const missing: string[] = []
  for (const { name, required, default: value } of fromJson(template.variables)) {
    if (Object.hasOwn(given, name) && given[name] !== null) continue
    if (value !== null) values[name] = value
    else if (required) missing.push(name)
  }
  return { values, missing }
}

/** The refusals of {@link requireValidSources} and {@link renderTemplate}. */
export const templateContentRefusals = ['template_invalid'] as const

/** @throws Refusal `template_invalid` when the template is not valid Liquid, or exceeds the limits */
export async function requireValidSources(
  renderer: TemplateRenderer,
  owner: string,
  sources: TemplateSources,
): Promise<void> {
  const fault = await renderer.findFault(owner, sources)
  if (fault) throw faulty(fault.part, fault.what)
}

const maxSubjectLength = 998
const maxBodyBytes = 2 * 1024 * 1024

/**
 * Renders the parts; the subject becomes one line.
 * @param param what a refusal names instead of the part
 * @throws Refusal `template_invalid` when that fails, or a part becomes too large
 */
export async function renderTemplate(
  renderer: TemplateRenderer,
  owner: string,
  sources: TemplateSources,
  values: TemplateVariables,
  param?: 'template',
): Promise<TemplateSources> {
  const rendered = await renderer.render(owner, sources, values)
  if (rendered.kind === 'faulty') throw faulty(rendered.fault.part, rendered.fault.what, param)
  const subject = rendered.subject === null ? null : withoutLineBreaks(rendered.subject)
  if (subject !== null && subject.length > maxSubjectLength)
    throw faulty(
      'subject',
      `it renders to ${subject.length} characters, and a subject may have at most ${maxSubjectLength}`,
      param,
    )
  return { subject, text: bodyOf(rendered.text, 'text', param), html: bodyOf(rendered.html, 'html', param) }
}

/** A message contains no NUL (RFC 5322 §2.1.1). */
function bodyOf(text: string | null, part: TemplatePart, param?: 'template'): string | null {
  if (text === null) return null
  const body = text.toWellFormed().replaceAll('\u0000', '\ufffd')
  if (Buffer.byteLength(body) > maxBodyBytes) throw faulty(part, `it renders to more than ${maxBodyBytes} bytes`, param)
  return body
}

/** A line break in a variable must not begin a header field of its own (RFC 5322 §2.2). */
function withoutLineBreaks(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
}

function faulty(part: TemplatePart | null, what: string, param: TemplatePart | 'template' | null = part) {
  return refuse('template_invalid', {
    message: `${part === null ? 'The template' : `The template's ${part}`}: ${what}.`,
    ...(param === null ? {} : { param }),
  })
}
