import {
  CaptureTag,
  Context,
  type Emitter,
  Liquid,
  LiquidError,
  type Template as Parsed,
  Tag,
  Tokenizer,
  type TopLevelToken,
  toValue,
  toValueSync,
} from 'liquidjs'
import { LRUCache } from 'lru-cache'
import { BudgetExceededError, RenderBudget } from './budget.ts'
import { budgetOf, countedFilters, countedOperators } from './filters.ts'

/** The parts of an email that a template renders. */
export const templateParts = ['subject', 'text', 'html'] as const
export type TemplatePart = (typeof templateParts)[number]

/** Liquid, or what it rendered to, for each part; null: the template does not have this part. */
export type TemplateSources = Readonly<Record<TemplatePart, string | null>>

/** What is wrong with a template: in which part, what, and where. */
export interface TemplateFault {
  /** null: the template as a whole. */
  readonly part: TemplatePart | null
  /** Half a sentence, such as `tag "include" not found, line:1, col:3`. */
  readonly what: string
}

/** The result of rendering a template. */
export type RenderResult =
  | ({ readonly kind: 'rendered' } & TemplateSources)
  | { readonly kind: 'faulty'; readonly fault: TemplateFault }

const maxOutput = 2 * 1024 * 1024
const allowance = { maxSteps: 100_000, maxWork: 4 * 1024 * 1024, maxMs: 1000 }
/** Tags, outputs and the texts between them. */
const maxTokens = 20_000
const maxTagLength = 16 * 1024
const maxDepth = 100

class BoundedEmitter implements Emitter {
  buffer = ''
  private readonly budget: RenderBudget
  constructor(budget: RenderBudget) {
    this.budget = budget
  }
  write(value: unknown): void {
    this.buffer += this.budget.textOf(toValue(value))
    if (this.buffer.length > maxOutput) throw new BudgetExceededError(`it renders to more than ${maxOutput} characters`)
  }
}

class BoundedCapture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new BoundedEmitter(budgetOf(context))
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    Object.assign(context.bottom(), { [this.variable]: emitter.buffer })
  }
}

/** Replaces liquidjs's own tag `#`, which looks for line breaks in quadratic time. */
class InlineComment extends Tag {
  override render(): void {}
}

/** Tags that include other templates, which is not supported. */
const refusedTags = ['include', 'render', 'layout', 'block']

function engineFor(part: TemplatePart): Liquid {
  const engine = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    timezoneOffset: 'UTC',
    locale: 'en-US',
    operators: countedOperators(),
    templates: {},
    ...(part === 'html' ? { outputEscape: escaped } : {}),
  })
  for (const name of Object.keys(engine.filters)) engine.unregisterFilter(name)
  for (const [name, filter] of Object.entries(countedFilters())) engine.registerFilter(name, filter)
  for (const name of refusedTags) delete engine.tags[name]
  engine.registerTag('capture', BoundedCapture)
  engine.registerTag('#', InlineComment)
  return engine
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

/** Escapes an output. liquidjs calls it as a filter, with the rendering as `this`. */
function escaped(this: unknown, value: unknown): string {
  const text = budgetOf((this as { readonly context: Context }).context).textOf(toValue(value))
  return text.replace(/[&<>"']/g, character => entities[character] ?? character)
}

const engines: Readonly<Record<TemplatePart, Liquid>> = {
  subject: engineFor('subject'),
  text: engineFor('text'),
  html: engineFor('html'),
}

/** Parsed templates by part and source, up to so many characters of source in all. */
const parsedTemplates = new LRUCache<string, Parsed[]>({
  maxSize: 1024 * 1024,
  sizeCalculation: (_, key) => key.length,
})

function parse(part: TemplatePart, source: string): Parsed[] {
  const key = `${part} ${source}`
  const cached = parsedTemplates.get(key)
  if (cached) return cached
  const parsed = parseAnew(part, source)
  parsedTemplates.set(key, parsed)
  return parsed
}

function parseAnew(part: TemplatePart, source: string): Parsed[] {
  const engine = engines[part]
  const tokens = new Tokenizer(source, engine.options.operators).readTopLevelTokens(engine.options)
  refuseExcess(tokens)
  return engine.parser.parseTokens(tokens)
}

function refuseExcess(tokens: readonly TopLevelToken[]): void {
  if (tokens.length > maxTokens) throw new BudgetExceededError(`it has more than ${maxTokens} tags and outputs`)
  let depth = 0
  for (const token of tokens) {
    const name = 'name' in token ? String(token.name) : undefined
    if (name !== undefined && token.end - token.begin > maxTagLength)
      throw new BudgetExceededError(`it has a tag of more than ${maxTagLength} characters`)
    if (name !== undefined && /^(?:if|unless|case|for|tablerow|capture)$/.test(name)) depth++
    if (name?.startsWith('end')) depth--
    if (depth > maxDepth) throw new BudgetExceededError(`its tags are nested more than ${maxDepth} deep`)
  }
}

/** What is wrong with a template, as far as that shows without variables; undefined: nothing. */
export function findFault(sources: TemplateSources): TemplateFault | undefined {
  for (const part of templateParts) {
    const source = sources[part]
    if (source === null) continue
    try {
      parse(part, source)
    } catch (error) {
      return { part, what: describe(error) }
    }
  }
  return undefined
}

/** Renders the parts. Each has its own allowance; nothing is read but `variables`. */
export function renderParts(sources: TemplateSources, variables: object): RenderResult {
  const rendered: Record<TemplatePart, string | null> = { subject: null, text: null, html: null }
  for (const part of templateParts) {
    const source = sources[part]
    if (source === null) continue
    try {
      rendered[part] = renderPart(part, parse(part, source), variables)
    } catch (error) {
      return { kind: 'faulty', fault: { part, what: describe(error) } }
    }
  }
  return { kind: 'rendered', ...rendered }
}

function renderPart(part: TemplatePart, parsed: Parsed[], variables: object): string {
  const engine = engines[part]
  const budget = new RenderBudget(allowance)
  const limits = { memoryLimit: budget, renderLimit: budget, liquid: engine }
  // A copy: `increment` writes into it.
  const context = new Context({ ...variables }, engine.options, { sync: true }, limits as unknown as ContextLimits)
  const emitter = new BoundedEmitter(budget)
  toValueSync(engine.renderer.renderTemplates(parsed, context, emitter))
  return emitter.buffer
}

type ContextLimits = NonNullable<ConstructorParameters<typeof Context>[3]>

const maxReasonLength = 300

/** Other errors are bugs of liquidjs; that a template can cause them counts as the template's fault too. */
function describe(error: unknown): string {
  if (error instanceof RangeError || (LiquidError.is(error) && /call stack/i.test(error.message)))
    return 'it is nested too deeply'
  return (error instanceof Error ? error.message : String(error)).slice(0, maxReasonLength)
}
