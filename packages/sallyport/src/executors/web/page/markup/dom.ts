/** The part of the DOM that the conversion uses. The project is compiled without a browser's types. */
export interface DomElement extends DomNode {
  readonly tagName: string;
  readonly parentElement: DomElement | null;
  readonly children: ArrayLike<DomElement> & Iterable<DomElement>;
  innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  appendChild(node: DomNode): void;
  remove(): void;
}

export interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue?: string | null;
  readonly childNodes: ArrayLike<DomNode> & Iterable<DomNode>;
  textContent: string | null;
}

export interface DomDocument extends Omit<DomElement, 'tagName'> {
  readonly documentElement: DomElement | null;
  createElement(name: string): DomElement;
}

export const ELEMENT_NODE = 1;
export const TEXT_NODE = 3;
