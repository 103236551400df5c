// Package schema checks documents against the part of JSON Schema that the schemas of reports and comparisons use. Their
// tests go by it.
//
//	var rules map[string]any
//	if err := json.Unmarshal(text, &rules); err != nil {
//		return err
//	}
//	problems, err := schema.Violations(rules, document, "report")
//	if err != nil {
//		return err
//	}
//	fmt.Println(problems)
package schema
