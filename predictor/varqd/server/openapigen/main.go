// Command openapigen writes the OpenAPI description of varqd's API from the
// types of package api, whose comments become descriptions.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

func main() {
	out := flag.String("o", "openapi.json", "file to write")
	root := flag.String("predictor", filepath.Join("..", ".."), "folder of the packages api and workload")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "openapigen:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	types, err := readTypes(filepath.Join(root, "api"), filepath.Join(root, "workload"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(document(types), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// object is a JSON object.
type object map[string]any

// readTypes returns the struct types declared in the folders, and those of basic types, by name.
func readTypes(folders ...string) (map[string]*ast.TypeSpec, error) {
	var files []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	types := map[string]*ast.TypeSpec{}
	var workload []*ast.TypeSpec
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				t := spec.(*ast.TypeSpec)
				switch t.Type.(type) {
				case *ast.StructType:
					t.Doc = gen.Doc
					if file.Name.Name == "workload" {
						workload = append(workload, t)
					}
				case *ast.Ident:
				default:
					continue
				}
				types[schemaName(file.Name.Name, t.Name.Name)] = t
			}
		}
	}
	for _, t := range workload {
		qualify(t.Type.(*ast.StructType), types)
	}
	return types, nil
}

// qualify gives the types that a struct of package workload names the names of their schemas.
func qualify(t *ast.StructType, types map[string]*ast.TypeSpec) {
	for _, f := range t.Fields.List {
		ast.Inspect(f.Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && types[schemaName("workload", id.Name)] != nil {
				id.Name = schemaName("workload", id.Name)
			}
			return true
		})
	}
}

// schemaName tells the types of the packages apart: workload.Request is a job's.
func schemaName(pkg, name string) string {
	if pkg == "workload" {
		return "Job" + strings.TrimPrefix(name, "Job")
	}
	return name
}

// schemas collects the schemas that the paths refer to.
type schemas struct {
	types map[string]*ast.TypeSpec
	made  object
}

// ref returns a reference to a type's schema, which it makes if need be.
func (s *schemas) ref(name string) object {
	if _, ok := s.made[name]; !ok {
		t, ok := s.types[name]
		if !ok {
			panic("no type " + name)
		}
		schema := object{"type": "object", "description": sentence(t.Doc)}
		s.made[name] = schema
		properties := object{}
		required := s.fields(t.Type.(*ast.StructType), properties)
		schema["properties"] = properties
		if len(required) > 0 {
			schema["required"] = required
		}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields adds the fields of a struct, and of those embedded in it, to
// properties, and returns the names of those that are always there. Those
// that JSON leaves out are not added.
func (s *schemas) fields(t *ast.StructType, properties object) (required []string) {
	for _, f := range t.Fields.List {
		if len(f.Names) == 0 {
			embedded := s.types[typeName(f.Type)]
			required = append(required, s.fields(embedded.Type.(*ast.StructType), properties)...)
			continue
		}
		name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		if name == "-" {
			continue
		}
		schema := s.schema(f.Type)
		if text := strings.TrimSpace(sentence(f.Doc) + " " + sentence(f.Comment)); text != "" {
			if _, isRef := schema["$ref"]; isRef {
				schema = object{"allOf": []object{schema}}
			}
			schema["description"] = text
		}
		properties[name] = schema
		if options != "omitempty" && options != "omitzero" {
			required = append(required, name)
		}
	}
	return required
}

func (s *schemas) schema(expr ast.Expr) object {
	switch t := expr.(type) {
	case *ast.ArrayType:
		return object{"type": "array", "items": s.schema(t.Elt)}
	case *ast.StarExpr:
		schema := s.schema(t.X)
		if _, isRef := schema["$ref"]; !isRef {
			schema["nullable"] = true
		}
		return schema
	}
	switch name := typeName(expr); name {
	case "string":
		return object{"type": "string"}
	case "bool":
		return object{"type": "boolean"}
	case "float64":
		return object{"type": "number", "format": "double"}
	case "int", "int64":
		return object{"type": "integer", "format": "int64"}
	case "int32":
		return object{"type": "integer", "format": "int32"}
	default:
		if t := s.types[name]; t != nil {
			if basic, ok := t.Type.(*ast.Ident); ok {
				return s.schema(basic)
			}
		}
		return s.ref(name)
	}
}

// typeName returns the name of a type's schema.
func typeName(expr ast.Expr) string {
	switch t := expr.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return schemaName(t.X.(*ast.Ident).Name, t.Sel.Name)
	}
	panic(fmt.Sprintf("a type of unforeseen form %T", expr))
}

// sentence returns a comment in one line.
func sentence(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }
