// The page of a graph. The drawings are in it already: this moves them, folds them, and tells what is known of an op.
// Every text of the program's is set as text, never as markup.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const derived = JSON.parse(document.getElementById('derived').textContent);
  const byId = (id) => document.getElementById(id);
  const SVG_MARGIN = 16, GAP_MIN = 24, AROUND = 14, FAR = 0.3, BIG = 1500;

  /// An element with attributes and children; texts become text.
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, '');
      else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  /// The first child that fits. (A selector with `:scope >` looks at everything below, too.)
  const child = (element, selector) => { for (const one of element.children) if (one.matches(selector)) return one; return null; };
  const cut = (text, most = 300) => text.length > most ? text.slice(0, most) + '…' : text;
  function size(bytes) {
    if (bytes < 10240) return `${bytes} B`;
    const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let value = bytes / 1024, unit = 0;
    while (value >= 1024 && unit + 1 < units.length) { value /= 1024; unit += 1; }
    return `${value.toFixed(1)} ${units[unit]}`;
  }
  const plural = (count, thing) => `${count} ${thing}${count === 1 ? '' : 's'}`;
  const duration = (profile, ns) => profile.clock === 'gpu' ? `${(ns / 1000).toFixed(3)} us` : `${ns} counted`;

